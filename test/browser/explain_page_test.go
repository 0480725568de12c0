package browser

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestExplainPage opens the page of `slipway explain --web` before a cluster of ten thousand objects.
func TestExplainPage(t *testing.T) {
	browser := start(t)
	for _, test := range []struct {
		name string
		run  func(t *testing.T, browser context.Context)
	}{
		{"token", tokenIsSpent}, {"ended", sessionEnds}, {"routes", everyRoute}, {"links", linksLead}, {"first-paint", firstPaint}, {"moving", moving},
		{"search", searching}, {"keyboard", keyboardOnly}, {"live", livePage}, {"reconnect", reconnects}, {"rest", rests}, {"hostile", hostilePage}, {"narrow", narrowPage}, {"pictures", pictures},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, browser) })
	}
}

// site opens a route of a cluster's page with its token, if that is not spent.
func (c *cluster) site(t *testing.T, browser context.Context, route string, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	c.mu.Lock()
	token := c.token
	c.mu.Unlock()
	url := c.URL + "/#" + route
	if token != "" {
		separator := "?"
		if strings.Contains(route, "?") {
			separator = "&"
		}
		url += separator + "token=" + token
	}
	own := func(asked string) bool {
		return strings.HasPrefix(asked, c.URL+"/") || strings.HasPrefix(asked, "data:")
	}
	return openTab(t, browser, url, own, before...)
}

// synced waits until all objects are there.
const synced = `document.querySelector(".connection.live") !== null`

// tokenIsSpent: the token leaves the address at once and opens one session, whose key other tabs of the browser use.
func tokenIsSpent(t *testing.T, browser context.Context) {
	c := newCluster(t)
	b := openTab(t, browser, c.URL+"/#token="+c.token, func(asked string) bool { return strings.HasPrefix(asked, c.URL+"/") })
	b.wait(synced)
	want(b, `location.href.includes("token")`, false)
	want(b, `location.hash`, "#/")
	want(b, `history.length <= 2 && !JSON.stringify(localStorage).includes("a-token")`, true)
	second := c.site(t, browser, "/timeline")
	second.wait(synced)
	b.do(chromedp.Reload())
	b.wait(synced)
	if c.sessions != 1 {
		t.Errorf("%d sessions were opened, want 1", c.sessions)
	}
	c2 := newCluster(t)
	other := openTab(t, browser, c2.URL+"/#/graph?state=not-ready&token=wrong", func(string) bool { return true })
	other.wait(`document.querySelector(".ended") !== null`)
	want(other, `location.hash`, "#/graph?state=not-ready")
	want(other, `document.querySelector(".ended code").textContent`, "slipway explain --web")
	other.forgive() // the browser logs the answer 403
}

// sessionEnds: a key that is no longer valid leads to a page that says what opens a new session.
func sessionEnds(t *testing.T, browser context.Context) {
	c := newCluster(t)
	b := c.site(t, browser, "/")
	b.wait(synced)
	c.endSession()
	b.wait(`document.querySelector(".ended h1")?.textContent === "This session has ended."`)
	want(b, `document.querySelector(".ended code").textContent`, "slipway explain --web")
	picture(b, "explain-ended")
	b.forgive() // the browser logs the answer 401
}

// views are the addresses of all views, with what shows that they are there.
var views = []struct{ name, route, there string }{
	{"overview", "/", `document.querySelectorAll(".unready .row").length > 5 && document.querySelector(".grid") !== null`},
	{"graph", "/graph", drawnGraph},
	{"graph-namespace", "/graph?namespace=shop-3", drawnGraph},
	{"graph-object", "/graph?namespace=shop-3&at=", drawnGraph},
	{"graph-list", "/graph?as=list", `document.querySelectorAll(".object-row").length > 8`},
	{"timeline", "/timeline", `document.querySelectorAll(".entry").length > 8`},
	{"reconciles", "/reconciles", `document.querySelectorAll(".reconcile-row").length > 8`},
	{"object", "/object/orders.shop.example.com/shop-3/order-3", `document.querySelectorAll(".cause").length === 2 && document.querySelectorAll(".history .entry").length > 5`},
	{"reconcile", "/reconcile/reconcile-3", `document.querySelectorAll(".beside-row").length === 8`},
}

const drawnGraph = `document.querySelector("canvas.graph") !== null && document.querySelector(".graph-area .notice") === null`

// everyRoute: each view has an address, and Back and Forward lead between them.
func everyRoute(t *testing.T, browser context.Context) {
	c := newCluster(t)
	b := c.site(t, browser, "/")
	b.wait(synced)
	for _, v := range views {
		b.script(`location.hash = "#` + v.route + `"`)
		b.wait(v.there)
	}
	b.script(`history.back()`)
	b.wait(views[len(views)-2].there)
	b.script(`history.forward()`)
	b.wait(views[len(views)-1].there)
	b.script(`location.hash = "#/no/such/view"`)
	b.wait(`document.querySelector(".notice-title")?.textContent === "This address names no view."`)
}

// linksLead: objects and reconciles are links, also in the timeline.
func linksLead(t *testing.T, browser context.Context) {
	c := newCluster(t)
	b := c.site(t, browser, "/")
	b.wait(synced)
	b.wait(views[0].there)
	b.do(chromedp.Click(chromedp.CSS(".unready a.object")))
	b.wait(`location.hash.startsWith("#/object/") && document.querySelector(".view-head h1") !== null`)
	b.script(`location.hash = "#/reconciles"`)
	b.wait(`document.querySelector("a.reconcile-link") !== null`)
	b.do(chromedp.Click(chromedp.CSS("a.reconcile-link")))
	b.wait(`location.hash.startsWith("#/reconcile/") && document.querySelectorAll(".beside-row").length > 0`)
	b.script(`location.hash = "#/timeline?text=replicas"`)
	b.wait(`document.querySelector(".entry a.object") !== null`)
	b.do(chromedp.Click(chromedp.CSS(".entry .opener")))
	b.wait(`document.querySelector('.entry .facts a[href^="#/reconcile/"]') !== null && document.querySelectorAll(".entry .change").length > 0`)
	b.do(chromedp.Click(chromedp.CSS(".entry a.object")))
	b.wait(`location.hash.startsWith("#/object/deployments.apps/")`)
}

// keyboardOnly walks from the search to an object, through lists and the graph, without a pointer.
func keyboardOnly(t *testing.T, browser context.Context) {
	c := newCluster(t)
	b := c.site(t, browser, "/")
	b.wait(synced)
	b.press("?")
	b.wait(`document.querySelector("dialog.keys").open`)
	b.press(kb.Escape)
	b.wait(`!document.querySelector("dialog.keys").open`)
	b.press("t")
	b.wait(views[5].there)
	b.do(chromedp.Focus(chromedp.CSS(".list .row[tabindex='0']")))
	b.press(kb.ArrowDown, kb.ArrowDown)
	b.wait(`document.activeElement.getAttribute("aria-posinset") === "3"`)
	b.press(kb.Enter)
	b.wait(`document.activeElement.querySelector(".entry.open") !== null || document.activeElement.querySelector(".entry.break") !== null`)
	b.press(kb.End)
	b.wait(`Number(document.activeElement.getAttribute("aria-posinset")) > 50`)
	b.press("g")
	b.wait(drawnGraph)
	b.do(chromedp.Focus(chromedp.CSS("canvas.graph")))
	b.press("n")
	b.wait(`document.querySelector(".selected a") !== null`)
	first := value[string](b, `document.querySelector(".selected").textContent`)
	b.press(kb.ArrowDown)
	b.wait(`document.querySelector(".selected").textContent !== ` + quoted(first))
	picture(b, "explain-graph-keyboard")
	b.press("+", "-", "0", kb.Enter)
	b.wait(`location.hash.startsWith("#/object/")`)
	b.press("/")
	b.wait(`document.activeElement.id === "search"`)
	for _, letter := range "order-33" {
		b.press(string(letter))
	}
	b.wait(`document.querySelectorAll("#hits [role=option]").length > 3`)
	b.press(kb.ArrowDown, kb.ArrowDown, kb.Enter)
	b.wait(`location.hash.includes("order-33") && document.getElementById("hits") === null`)
	b.press("o", kb.Tab)
	b.wait(`document.activeElement !== document.body`)
}

// pictures are taken of each view in both schemes, and all text can be read.
func pictures(t *testing.T, browser context.Context) {
	for _, name := range []string{"light", "dark"} {
		c := newCluster(t)
		b := c.site(t, browser, "/", scheme(name))
		b.wait(synced)
		for _, v := range views {
			route := v.route
			if strings.HasSuffix(route, "at=") {
				route += c.uid("Deployment", "order-3")
			}
			b.script(`location.hash = "#` + route + `"`)
			b.wait(v.there)
			if v.name == "timeline" {
				b.script(`[4, 5, 8].forEach((i) => document.querySelectorAll(".entry .opener")[i].click())`)
				b.wait(`document.querySelectorAll(".entry.open").length > 2`)
			}
			if v.name == "reconcile" {
				b.script(`document.querySelector(".step button").click()`)
			}
			b.pause(400)
			readableText(b)
			picture(b, "explain-"+v.name+"-"+name)
		}
		b.press("?")
		readableText(b)
		picture(b, "explain-keys-"+name)
		b.press(kb.Escape)
	}
	c := newCluster(t)
	b := c.site(t, browser, "/", scheme("dark"))
	b.wait(synced)
	b.script(`document.querySelector(".theme").click()`)
	want(b, `getComputedStyle(document.body).backgroundColor`, "rgb(251, 251, 250)")
	b.do(chromedp.Reload())
	b.wait(synced)
	want(b, `getComputedStyle(document.body).backgroundColor`, "rgb(251, 251, 250)")
}

// uid finds an object.
func (c *cluster) uid(kind, name string) string {
	i := slices.IndexFunc(c.objects, func(o object) bool { return o.Kind == kind && o.Name == name })
	return c.objects[i].UID
}

// readableText fails if a text can hardly be read.
func readableText(b *tab) {
	b.t.Helper()
	if texts := value[string](b, strings.Replace(faint, "texts < 1000", "texts < 5", 1)); texts != "" {
		b.t.Errorf("%s: texts of too little contrast:\n%s", value[string](b, "location.hash"), texts)
	}
}

// narrowPage: at 800 pixels, and at 320, which is 1280 at 400 %, nothing is wider than the window.
func narrowPage(t *testing.T, browser context.Context) {
	for _, width := range []int64{800, 320} {
		c := newCluster(t)
		size := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 600, DeviceScaleFactor: 1}
		if width == 320 {
			size.Height = 256
		}
		b := c.site(t, browser, "/", command(emulation.SetDeviceMetricsOverride, size))
		b.wait(synced)
		for _, v := range views {
			b.script(`location.hash = "#` + v.route + `"`)
			b.wait(`document.querySelector("main").childElementCount > 0`)
			b.pause(300)
			want(b, `document.documentElement.scrollWidth`, int(width))
			want(b, `[...document.querySelectorAll(".stack")].every((e) => e.scrollHeight <= e.clientHeight + 1)`, true)
			picture(b, "explain-"+v.name+"-"+map[int64]string{800: "800", 320: "320"}[width])
		}
	}
}
