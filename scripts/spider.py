"""The Scrapy spider of scrapy.sh: follows every link and keeps every page."""

import scrapy


class Spider(scrapy.Spider):
    name = "all"
    custom_settings = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 0,
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
    }

    def start_requests(self):
        yield self.ask(self.seed)

    def ask(self, url):
        return scrapy.Request(url)

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get(), "body": response.text}
        for href in response.css("a::attr(href)").getall():
            yield self.ask(response.urljoin(href))
