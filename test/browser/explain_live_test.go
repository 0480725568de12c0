package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// livePage: objects and entries that come and go are shown as they do.
func livePage(t *testing.T, browser context.Context) {
	c := newCluster(t)
	b := c.site(t, browser, "/")
	b.wait(synced)
	b.wait(views[0].there)
	before := value[string](b, `document.querySelector("h1").textContent`)
	fresh := object{UID: "fresh", Kind: "Pod", Resource: "pods", Namespace: "shop-1", Name: "a-new-one", State: "not-ready", Text: "ErrImagePull", Created: time.Now()}
	c.change(fresh)
	b.wait(`document.querySelector("h1").textContent !== ` + quoted(before))
	b.wait(`document.querySelector(".unready .row").textContent.includes("a-new-one")`)
	c.remove("fresh")
	b.wait(`document.querySelector("h1").textContent === ` + quoted(before))
	b.script(`location.hash = "#/timeline"`)
	b.wait(views[5].there)
	c.happen(entry{"kind": "event", "type": "Normal", "message": "something new", "object": entry{"resource": "pods", "kind": "Pod", "namespace": "shop-1", "name": "a-new-one"}})
	b.wait(`document.querySelector(".entry").textContent.includes("something new")`)
	b.script(`document.querySelector(".list").scrollTo(0, 2000)`)
	b.wait(`document.querySelector(".list").scrollTop > 1000 && Number(document.querySelector(".row").dataset.index) > 5`)
	c.happen(entry{"kind": "event", "type": "Normal", "message": "something later"})
	b.wait(`document.querySelector(".newer")?.textContent === "1 new entry"`)
	b.do(chromedp.Click(chromedp.CSS(".newer")))
	b.wait(`document.querySelector(".entry").textContent.includes("something later")`)
	b.script(`location.hash = "#/timeline?refused=yes"`)
	b.wait(`document.querySelectorAll(".entry").length > 3 && [...document.querySelectorAll(".entry .badge")].every((e) => e.textContent === "refused")`)
}

// rests: a tab that is hidden lets go of its connections, of which a browser opens few, and catches up later.
func rests(t *testing.T, browser context.Context) {
	c := newCluster(t)
	b := c.site(t, browser, "/")
	b.wait(synced)
	b.script(`Object.defineProperty(document, "hidden", {value: true, configurable: true}); document.dispatchEvent(new Event("visibilitychange"))`)
	for began := time.Now(); c.streams() > 0; b.pause(100) {
		if time.Since(began) > patience {
			t.Fatalf("a hidden tab holds %d streams", c.streams())
		}
	}
	want(b, `document.querySelector(".banner.lost") === null`, true)
	c.change(object{UID: "fresh", Kind: "Pod", Resource: "pods", Namespace: "shop-1", Name: "a-new-one", State: "not-ready", Created: time.Now()})
	b.script(`Object.defineProperty(document, "hidden", {value: false, configurable: true}); document.dispatchEvent(new Event("visibilitychange"))`)
	b.wait(`document.querySelector(".unready .row")?.textContent.includes("a-new-one")`)
}

// reconnects: the page says that it has lost its server, keeps what it knows, and catches up when the server is back.
func reconnects(t *testing.T, browser context.Context) {
	c := newCluster(t)
	b := c.site(t, browser, "/")
	b.wait(synced)
	b.wait(views[0].there)
	headline := value[string](b, `document.querySelector("h1").textContent`)
	c.interrupt(true)
	b.wait(`document.querySelector(".banner.lost") !== null && document.querySelector(".connection.lost") !== null`)
	want(b, `document.querySelector("h1").textContent`, headline)
	picture(b, "explain-lost")
	c.mu.Lock()
	gone := c.objects[len(c.objects)-1]
	c.objects = c.objects[:len(c.objects)-1]
	c.mu.Unlock()
	c.interrupt(false)
	b.do(chromedp.Click(chromedp.CSS(".banner.lost button")))
	b.wait(`document.querySelector(".banner.lost") === null`)
	b.wait(`document.querySelector("h1").textContent.includes("9,999")`)
	b.press("/")
	for _, letter := range gone.Name {
		b.press(string(letter))
	}
	b.wait(`document.querySelector("#hits") !== null && document.querySelectorAll("#hits li").length === 0`)
	b.press(kb.Escape)
	b.forgive() // the browser logs each failed request
}

// hostilePage: what others have written stays text, and its control characters are visible.
func hostilePage(t *testing.T, browser context.Context) {
	c := newCluster(t)
	name := strings.Repeat("a", 248) + ".long"
	b := c.site(t, browser, "/")
	b.wait(synced)
	for _, route := range []string{"/object/configmaps/hostile/" + name, "/graph?namespace=hostile&as=list", "/graph?namespace=hostile", "/timeline?text=onerror", "/reconcile/reconcile-3", "/reconcile/" + `%3Cimg%20src%3Dx%20onerror%3D%22window.hit%3D1%22%3E`} {
		b.script(`location.hash = "#` + route + `"`)
		b.wait(`document.querySelector("main").childElementCount > 0 && document.querySelector(".spinner") === null`)
		b.wait(`document.querySelector("main").textContent.includes("<img src=x onerror=") || document.querySelector("canvas.graph") !== null`)
		want(b, `"hit" in window`, false)
		want(b, `document.querySelectorAll("img").length + document.scripts.length`, 1)
		want(b, `/[\x00-\x08\x1b\u202e]/.test(document.documentElement.textContent)`, false)
		want(b, `document.documentElement.scrollWidth <= innerWidth`, true)
	}
	b.script(`location.hash = "#/object/configmaps/hostile/` + name + `"`)
	b.wait(`document.querySelector(".cause-text")?.textContent.includes("\\u001b[31m\\u202e\\u0007")`)
	picture(b, "explain-hostile")
}
