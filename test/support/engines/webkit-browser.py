# A browser of a few lines on WebKitGTK, for WebKitWebDriver to drive. Its profile is on disk, in the folder given:
# MiniBrowser, which comes with the driver, keeps nothing of an automated session.
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gtk, WebKit2  # noqa: E402

profile = sys.argv[1]
manager = WebKit2.WebsiteDataManager(base_data_directory=f"{profile}/data", base_cache_directory=f"{profile}/cache")
context = WebKit2.WebContext(website_data_manager=manager)
context.set_automation_allowed(True)


def open_tab(_session):
    view = WebKit2.WebView(web_context=context, is_controlled_by_automation=True)
    window = Gtk.Window()
    window.add(view)
    window.show_all()
    view.connect("close", lambda _view: window.destroy())
    return view


def begin(_context, session):
    about = WebKit2.ApplicationInfo()
    about.set_name("Holdfast-WebKit")
    about.set_version(1, 0, 0)
    session.set_application_info(about)
    session.connect("create-web-view", open_tab)


context.connect("automation-started", begin)
Gtk.main()
