"""A report as one HTML page that needs nothing besides itself."""

from __future__ import annotations

from attune_env.pages.assets import asset, environment
from attune_env.pages.page_view import ReportView
from attune_env.pages.report_markdown import MARK, absent_of


def report_html(view: ReportView) -> str:
    """The page: style, script, figures and tables in it, nothing fetched from anywhere."""
    template = environment().get_template("report.html")
    return template.render(
        view=view, mark=MARK, absent=absent_of(view), style=asset("style.css"), script=asset("page.js")
    )
