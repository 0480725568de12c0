package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// The limits of the page, in milliseconds.
const (
	mostFirstPaint = 1500
	mostSearch     = 100
	mostTask       = 100
)

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // texts can be marshalled
	}
	return string(b)
}

// firstPaint: while ten thousand objects come, the page has painted its content.
func firstPaint(t *testing.T, browser context.Context) {
	best := 1e9
	for range 3 {
		c := newCluster(t)
		b := c.site(t, browser, "/")
		b.wait(`performance.getEntriesByName("first-contentful-paint").length > 0 && document.querySelector(".overview") !== null`)
		at := value[float64](b, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
		b.wait(synced)
		t.Logf("first contentful paint after %.0f ms, all objects after %.0f ms", at, value[float64](b, `performance.now()`))
		best = min(best, at)
	}
	if best > mostFirstPaint {
		t.Errorf("the first paint takes %.0f ms, at most %d are allowed", best, mostFirstPaint)
	}
}

// observer collects tasks over 50 ms from the first script on.
const observer = `window.tasks = []; new PerformanceObserver((list) => list.getEntries().forEach((e) => tasks.push({at: e.startTime, ms: e.duration, during: window.step ?? "loading"}))).observe({type: "longtask", buffered: true});`

type task struct {
	At, Ms float64
	During string
}

// moving: no task holds up the browser for longer than the limit while the user moves through ten thousand objects. Of
// three times the best counts, for other processes compute, too.
func moving(t *testing.T, browser context.Context) {
	best := task{Ms: 1e9}
	for range 3 {
		longest := longestTask(t, browser)
		t.Logf("the longest task takes %.0f ms: %s", longest.Ms, longest.During)
		if longest.Ms < best.Ms {
			best = longest
		}
		if best.Ms <= mostTask {
			return
		}
	}
	t.Errorf("a task takes %.0f ms, at most %d are allowed: %s", best.Ms, mostTask, best.During)
}

// longestTask moves through all views.
func longestTask(t *testing.T, browser context.Context) task {
	c := newCluster(t)
	b := c.site(t, browser, "/", command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: observer}))
	b.wait(synced)
	for _, v := range views {
		b.script(`window.step = "open ` + v.name + `"; location.hash = "#` + v.route + `"`)
		b.wait(v.there)
		b.script(`window.step = "move in ` + v.name + `"`)
		wheel(b, 25, 120)
		wheel(b, 10, -120)
		if v.name != "graph" && v.name != "graph-namespace" {
			continue
		}
		drag(b)
		b.do(chromedp.Focus(chromedp.CSS("canvas.graph")))
		b.press("n", "n", "0", "+", "+", "-", "-")
		b.script(`window.step = "live in ` + v.name + `"`)
		for i := range 5 {
			o := c.objects[2000+i]
			o.State = "not-ready"
			c.change(o, object{UID: fmt.Sprintf("new-%s-%d", v.name, i), Kind: "Pod", Resource: "pods", Namespace: "shop-3", Name: fmt.Sprintf("new-%d", i), State: "ready", Created: time.Now()})
			b.pause(300)
		}
	}
	var longest task
	for _, task := range value[[]task](b, `tasks`) {
		if task.Ms > longest.Ms {
			longest = task
		}
	}
	return longest
}

// wheel turns the wheel over the middle of the window.
func wheel(b *tab, times int, by float64) {
	for range times {
		b.do(command(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: 400, Y: 500, DeltaX: 0.01, DeltaY: by}))
	}
}

// drag moves the content with the left button.
func drag(b *tab) {
	at := func(kind input.DispatchMouseEventType, x, y float64) {
		b.do(command(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}))
	}
	at(input.DispatchMouseEventTypeMousePressed, 700, 500)
	for i := range 30 {
		at(input.DispatchMouseEventTypeMouseMoved, 700-float64(i)*12, 500-float64(i)*4)
	}
	at(input.DispatchMouseEventTypeMouseReleased, 340, 380)
}

// searching: results for each letter are drawn within the limit.
func searching(t *testing.T, browser context.Context) {
	c := newCluster(t)
	b := c.site(t, browser, "/")
	b.wait(synced)
	b.wait(views[0].there)
	b.press("/")
	slowest := 0.0
	for _, text := range []string{"o", "or", "order-17", "pod shop-3", "secret", "no such thing", "invoice", "7fbf8"} {
		best := 1e9 // of three times, for other processes compute, too
		for range 3 {
			best = min(best, searched(b, text))
		}
		t.Logf("%q: %.0f ms", text, best)
		slowest = max(slowest, best)
	}
	if slowest > mostSearch {
		t.Errorf("a search takes %.0f ms, at most %d are allowed", slowest, mostSearch)
	}
	searched(b, "invoice")
	b.wait(`document.querySelector("#hits li")?.textContent.includes("controller of shop")`)
	picture(b, "explain-search")
}

// searched is how long it takes from a text to the frame that shows its results.
func searched(b *tab, text string) float64 {
	return awaited[float64](b, `new Promise((done) => {
		const input = document.getElementById("search");
		const type = (text) => { input.value = text; input.dispatchEvent(new InputEvent("input", {bubbles: true})); };
		type("");
		setTimeout(() => {
			const began = performance.now();
			type(`+quoted(text)+`);
			const look = () => document.querySelector("#hits")?.dataset.text === input.value ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))) : setTimeout(look);
			look();
		}, 50);
	})`)
}
