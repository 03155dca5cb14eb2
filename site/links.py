"""Links that leave docs/ lead to the repository: README.md and CHANGELOG.md are read there, and so is code."""

import re
from pathlib import Path, PurePosixPath

REPOSITORY = "https://github.com/elasticron/elasticron/blob/main/"

# A link of Markdown whose target begins with ../
LEAVING = re.compile(r"(?<=\]\()\.\./([^)\s]+)(?=\))")


def on_page_markdown(markdown, page, config, files):
    """Replaces the links that leave docs/, if what they name is there."""
    root = Path(config["docs_dir"]).parent

    def replace(match):
        path = PurePosixPath(match[1].partition("#")[0])
        if ".." in path.parts or not (root / path).exists():
            return match[0]  # which mkdocs then warns of
        return REPOSITORY + match[1]

    return LEAVING.sub(replace, markdown)
