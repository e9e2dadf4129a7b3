"""The site of the documents: scripts/site.sh makes it, every page is in it and in its search, no link leads nowhere and nothing
is loaded from elsewhere. Skipped (77) without mkdocs."""

import html.parser
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.parts, self.loaded = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.parts.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag in ("script", "img", "link") and (values.get("src") or values.get("href")):
            self.loaded.append(values.get("src") or values["href"])


class Site(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.site = tempfile.mkdtemp(prefix="ulpscope_site_")
        cls.addClassCleanup(shutil.rmtree, cls.site, True)
        subprocess.run([TOP + "/scripts/site.sh", cls.site], check=True, stdout=subprocess.DEVNULL)
        cls.pages = {}
        for folder, _, names in os.walk(cls.site):
            for name in names:
                if name.endswith(".html"):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        cls.pages[path] = Page(file.read())

    def test_every_document_is_a_page_and_is_found_by_search(self):
        with open(self.site + "/search/search_index.json", encoding="utf-8") as file:
            found = {entry["location"].split("#")[0] for entry in json.load(file)["docs"]}
        documents = [os.path.relpath(os.path.join(folder, name), TOP + "/docs")
                     for folder, _, names in os.walk(TOP + "/docs") for name in names if name.endswith(".md")]
        self.assertGreater(len(documents), 30)
        for document in documents:
            page = document[:-len(".md")] + ".html"
            self.assertIn(os.path.join(self.site, page), self.pages)
            self.assertIn(page, found | {"index.html"} if "" in found else found)

    def test_no_link_leads_nowhere(self):
        wrong = []
        for path, page in self.pages.items():
            if path.endswith("/404.html"):
                continue  # its links start at the top of a web server
            for link in page.links + page.loaded:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path)))
                if not parts.path:
                    target = path
                elif target == self.site or parts.path.endswith("/"):
                    target = os.path.join(target, "index.html")
                if not os.path.exists(target):
                    wrong.append(f"{path}: {link}")
                elif parts.fragment and target in self.pages and parts.fragment not in self.pages[target].parts:
                    wrong.append(f"{path}: {link}: no such part")
        self.assertEqual(wrong, [])

    def test_nothing_is_loaded_from_elsewhere(self):
        for path, page in self.pages.items():
            self.assertEqual([link for link in page.loaded if urllib.parse.urlsplit(link).netloc], [], path)


if __name__ == "__main__":
    if not shutil.which("mkdocs"):
        print("skipped: mkdocs is not installed")
        sys.exit(77)
    unittest.main()
