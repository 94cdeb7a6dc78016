"""Reports: one HTML file that opens from disk, asks nothing of the network, and explains an answer.

`blanket` and `network` say what there is to say about an answer, `calls` how to get it again, and `page` makes the file
of that: the template (`page.html`, `page.css`, `page.js`) with everything put in. Only what is near the answer is
embedded, so that the file stays small however many variables there are.
"""

from serape.results.report.blanket import blanket_page
from serape.results.report.network import network_page
from serape.results.report.page import Page, check_name, page_text

__all__ = ["Page", "blanket_page", "check_name", "network_page", "page_text"]
