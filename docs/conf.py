"""Settings of Sphinx for the site that `make docs` builds (`tools/build_site.py`)."""

from attune_data import __version__

project = html_title = "attune-env"
author = "The attune-env maintainers"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
suppress_warnings = [
    "ref.python"
]  # a public name is known by two paths: where it is imported from, and its module
default_role = "code"  # docstrings write code in single backticks, as Markdown does
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
myst_heading_anchors = 4
html_theme = "furo"
html_copy_source = False
html_extra_path = ["extra"]  # what lies at the site's root as it is: the JSON Schemas
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_show_search_summary = False  # summaries are fetched, which pages opened from a folder may not do
