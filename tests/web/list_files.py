"""Write the list of the page's files, ``web/files.json``."""

import json

from support.browser import WEB, page_files

if __name__ == "__main__":
    (WEB / "files.json").write_text(json.dumps(page_files(), indent=1) + "\n", encoding="utf-8")
