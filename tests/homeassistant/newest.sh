#!/bin/sh
# The tests with the newest Home Assistant, which needs a newer Python than most systems have: in a Debian of its own.
#
#   sudo tests/homeassistant/newest.sh FOLDER
#
# FOLDER gets 2 GB, and keeps them for the next time; it may then be removed. Needs root, debootstrap and Debian's packages.
set -eu

folder=${1:?expected a folder for the system, for instance /var/tmp/home-assistant}
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$here/../.." && pwd)
release=${RELEASE:-forky}
certificates=/etc/ssl/certs/ca-certificates.crt

if ! test -e "$folder/root/ready"; then
    mkdir -p "$folder"
    script=/usr/share/debootstrap/scripts/$release
    # Of releases that are younger than debootstrap itself.
    test -e "$script" || script=/usr/share/debootstrap/scripts/sid
    debootstrap --variant=minbase --include=python3,python3-venv,python3-dev,g++,ca-certificates "$release" "$folder" "" "$script"
    cp /etc/resolv.conf /etc/hosts "$folder/etc/"
    # Networks may have a certificate of their own.
    cp "$certificates" "$folder$certificates"
    cp "$here/newest_requirements.py" "$folder/root/"
    chroot "$folder" /bin/sh -eux <<'INSIDE'
cd /root
python3 -m venv tools
tools/bin/pip --disable-pip-version-check install --quiet uv
python3 -m venv home
export SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
# It pins Home Assistant. Its parts name what they would install when they start.
tools/bin/uv pip install --quiet --python home/bin/python pytest-homeassistant-custom-component imageio-ffmpeg
home/bin/python newest_requirements.py > requirements.txt
tools/bin/uv pip install --quiet --python home/bin/python --requirement requirements.txt
touch ready
INSIDE
fi

rm -rf "$folder/root/checkout" "$folder/root/server"
git -C "$checkout" archive --prefix root/checkout/ HEAD | tar --extract --directory "$folder"
mountpoint --quiet "$folder/proc" || mount -t proc proc "$folder/proc"
trap 'umount "$folder/proc"' EXIT
chroot "$folder" /bin/sh -eu <<'INSIDE'
export SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
cd /root/checkout
python3 -m venv /root/server
/root/tools/bin/uv pip install --quiet --python /root/server/bin/python '.[serve]'
/root/tools/bin/uv pip list --quiet --python /root/home/bin/python | grep -E '^(homeassistant|wyoming|pytest-home)'
cd tests/homeassistant
WAKEWORD_PYTHON=/root/server/bin/python /root/home/bin/python -m pytest -c pytest.ini --rootdir . --confcutdir .
INSIDE
