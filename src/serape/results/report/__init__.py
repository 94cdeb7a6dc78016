"""Reports: one self-contained HTML file that explains a result and needs no internet.

`blanket`, `blankets`, `causes`, `contexts` and `network` write the content of a report, `plain` that of any other kind,
`calls` how to reproduce the result, and `page` makes the file from the template (`page.html`, `page.css`, `tables.js`,
`graph.js`, `page.js`). Only the variables that matter to the result are embedded, so that the file stays small with any
number of variables.
"""

from serape.results.report.blanket import blanket_page
from serape.results.report.blankets import blankets_page
from serape.results.report.causes import causes_page
from serape.results.report.contexts import contexts_page
from serape.results.report.network import network_page
from serape.results.report.page import Cell, Grid, Page, check_name, page_text
from serape.results.report.plain import Around, Member, plain_page

__all__ = [
    "Around",
    "Cell",
    "Grid",
    "Member",
    "Page",
    "blanket_page",
    "blankets_page",
    "causes_page",
    "check_name",
    "contexts_page",
    "network_page",
    "page_text",
    "plain_page",
]
