# make demo         set up the runtime alone and find "jarvis" and "computer" in a recording
# make test         set up everything and run the tests, on all cores
# make test-evidence  the tests of the experiments in train/evidence
# make test-fast    most tests, in some two minutes on 2 cores: without training runs, synthesis, sound devices and whole commands
# make test-ha      test `wakeword serve` with a real Home Assistant: needs Python 3.13 and downloads some 500 MB
# make browser-deps Node and Chromium, for the tests of the browser's package (Debian, Ubuntu)
# make web-deps     what these tests need besides: some 190 MB from npm
# make test-web     types and tests of the browser's package; what is missing is skipped, with the reason
# make check        lint and types
# make system-deps  PortAudio and a sound server for the microphone's tests (Debian, Ubuntu)
# make docs         build the documentation site in site/; fails on broken links and on requests to other hosts
# make addon        put the add-on for Home Assistant together in build/addon
# make supply       build the wheels twice and compare; SBOM and licences in build/; known vulnerabilities of the dependencies
# make bench        measure the cost of the engine on this machine

PYTHON ?= $(firstword $(foreach v,python3.11 python3.12 python3.13 python3,$(shell command -v $(v) 2>/dev/null)))
# torch is installed first and alone: as a dependency of another package, pip may choose another, larger build.
TORCH ?= torch==2.13.0
VENV ?= .venv
BIN := $(VENV)/bin
# There is one worker per core, so each uses one thread.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup --no-loadscope-reorder
# A name that only pyenv knows is found, but does not run.
HA_PYTHON ?= $(firstword $(foreach p,python3.13 $(wildcard $(HOME)/.pyenv/versions/3.13.*/bin/python3.13),$(shell $(p) -c 'print("$(p)")' 2>/dev/null)))
HA_VENV ?= .venv-ha
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test test-fast test-ha test-web test-evidence web-deps browser-deps check docs supply system-deps bench addon clean

demo: $(VENV)/.runtime
	@echo 'wakeword scan --keyword jarvis --keyword computer assets/audio/sentences.flac'
	@$(BIN)/wakeword scan --keyword jarvis --keyword computer assets/audio/sentences.flac
	@echo
	@echo 'What was said; each of these should stand above once, and nothing else:'
	@echo '   1.2 to  3.0 s  "Jarvis, what time is it?"'
	@echo '   8.4 to 11.1 s  "Computer, what is the weather today?"'
	@echo '  16.1 to 18.2 s  "Good morning, Jarvis."'
	@echo '  23.1 to 25.8 s  "Hey computer, stop the music."'
	@echo '  31.2 to 34.2 s  "Jarvis, set a timer for ten minutes."'
	@echo '  39.5 to 41.6 s  "Thank you, computer."'
	@echo 'Six other sentences have words that sound like these: Travis, Harvey, harvest, commuter, service, competitors, larvae.'
	@echo 'The voices are synthetic, and no model was trained on them. docs/accuracy.md says what the models do with people.'
	@echo
	@echo 'To listen to the microphone:  $(BIN)/wakeword listen --keyword jarvis'

test: $(VENV)/.development
	$(PYTEST) tests

test-evidence: $(VENV)/.development
	$(PYTEST) train/evidence/tests

test-fast: $(VENV)/.development
	$(PYTEST) -m 'not slow' tests/test_layers.py tests/test_size.py tests/runtime tests/echo tests/serve tests/tools tests/export

ifeq ($(HA_PYTHON),)
test-ha:
	@echo 'skipped: the tests with Home Assistant need Python 3.13, found none; set HA_PYTHON=...'
else
test-ha: $(VENV)/.development $(HA_VENV)/.tried
	@if test -e $(HA_VENV)/.installed; then \
		cd tests/homeassistant && WAKEWORD_PYTHON='$(abspath $(BIN))/python' '$(abspath $(HA_VENV))/bin/python' -m pytest \
			-c pytest.ini --rootdir . --confcutdir .; \
	else echo 'skipped: the packages of Home Assistant could not be installed; remove $(HA_VENV)/.tried to try again'; fi
endif

# uv, as pip takes several minutes to resolve so many packages.
$(HA_VENV)/.tried: tests/homeassistant/requirements.txt
	test -x $(HA_VENV)/bin/python || $(HA_PYTHON) -m venv $(HA_VENV)
	rm -f $(HA_VENV)/.installed
	if $(HA_VENV)/bin/python -m pip --disable-pip-version-check install --quiet uv && \
		$(HA_VENV)/bin/uv pip install --quiet --python $(HA_VENV)/bin/python --requirement $<; then touch $(HA_VENV)/.installed; fi
	@touch $@

browser-deps:
	@sudo=; test "$$(id -u)" = 0 || sudo=sudo; \
	$$sudo apt-get -q update && \
	{ command -v node >/dev/null || $$sudo apt-get -q -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends nodejs npm; } && \
	{ command -v chromium >/dev/null || $$sudo apt-get -q -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends chromium; }

web-deps: web/node_modules/.package-lock.json

web/node_modules/.package-lock.json: web/package.json
	cd web && npm install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error
	@touch $@

test-web: $(VENV)/.development
	@if test -x web/node_modules/.bin/tsc; then cd web && node_modules/.bin/tsc --project tsconfig.json; \
		else echo 'skipped the types: make web-deps sets up what they need'; fi
	$(PYTEST) tests/web tests/runtime/browser tests/serve/test_status_pages.py

check: $(VENV)/.development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs
	$(BIN)/zensical build --strict
	@! grep -rlE '<(script|img|iframe)[^>]+src="https?://|<link[^>]+(stylesheet|preconnect|icon)[^>]+https?://' site --include='*.html' \
		|| { echo 'expected a site that loads nothing from other hosts, got the files above' >&2; exit 1; }

bench: $(VENV)/.development
	$(BIN)/python -m benchmarks

# The wheels go along, as the Supervisor builds from the folder alone.
addon: $(VENV)/.runtime
	rm -rf build/addon
	mkdir -p build/addon
	cp -R deploy/home-assistant build/addon/wakeword
	$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --wheel-dir build/addon/wakeword . ./serve ./ear ./tongues
	@echo 'copy build/addon/wakeword into the folder "addons" of Home Assistant (docs/home-assistant.md)'

supply: .venv-supply/.installed
	bash .ci/supply

.venv-supply/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m venv .venv-supply
	.venv-supply/bin/python -m pip --disable-pip-version-check install --quiet 'build>=1.2' 'hatchling>=1.27' 'uv>=0.8' \
		'cyclonedx-bom>=7' 'pip-audit>=2.9'
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo 'expected Python 3.11 or newer, found none: install it or set PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'expected Python 3.11 or newer, got '"$$($(PYTHON) -V 2>&1)"': set PYTHON=...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(VENV)/.development: pyproject.toml echo/pyproject.toml serve/pyproject.toml tools/pyproject.toml train/pyproject.toml export/pyproject.toml ear/pyproject.toml tongues/pyproject.toml train/evidence/pyproject.toml | $(BIN)/python
	$(PIP) '$(TORCH)'
	$(PIP) --editable '.[dev]' --editable ./echo --editable ./serve --editable ./tools --editable ./train --editable ./export ./background --editable ./ear --editable ./tongues --editable ./train/evidence
	$(PIP) --editable './export[peers]' || echo 'another engine has no wheel for this machine: its tests are skipped'
	@touch $@ $(VENV)/.runtime

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[docs]'
	@touch $@ $(VENV)/.runtime

system-deps:
	@command -v apt-get >/dev/null || { echo 'expected apt-get; install PortAudio and PulseAudio with your own package manager' >&2; exit 1; }
	@sudo=; test "$$(id -u)" = 0 || sudo=sudo; \
	$$sudo apt-get -q update && \
	$$sudo apt-get -q -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends \
		libportaudio2 pulseaudio pulseaudio-utils libasound2-plugins

clean:
	rm -rf $(VENV) $(HA_VENV) .venv-supply web/node_modules build dist site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
