package browser

import (
	"context"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/prove/page"
)

var screenshots = flag.String("screenshots", "", "folder for pictures of the page")

// TestPage opens pages in one browser.
func TestPage(t *testing.T) {
	browser := start(t)
	report := large()
	big, bad := file(t, report), file(t, hostile())
	id := report.Findings[0].Plans[0].ID()
	for name, test := range map[string]func(t *testing.T){
		"fast":      func(t *testing.T) { fast(t, browser, big) },
		"light":     func(t *testing.T) { contrast(t, browser, big, "light") },
		"dark":      func(t *testing.T) { contrast(t, browser, big, "dark") },
		"keyboard":  func(t *testing.T) { keyboard(t, browser, big) },
		"pointer":   func(t *testing.T) { pointer(t, browser, big, id) },
		"link":      func(t *testing.T) { link(t, browser, big, id) },
		"filter":    func(t *testing.T) { filter(t, browser, big) },
		"hostile":   func(t *testing.T) { harmless(t, browser, bad) },
		"no-script": func(t *testing.T) { withoutScript(t, browser, big, len(report.Findings)) },
		"print":     func(t *testing.T) { printed(t, browser, big) },
		"narrow":    func(t *testing.T) { narrow(t, browser, big) },
	} {
		t.Run(name, test)
	}
}

// file writes the page of a report, and returns its address.
func file(t *testing.T, r *prove.Report) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prove.html")
	if err := page.Write(path, r, page.About{Subject: "examples/shop", Command: "slipway prove -f prove/shop.yaml"}); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// picture keeps what the tab shows, for people.
func picture(b *tab, name string) {
	if *screenshots == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o644); err != nil {
		b.t.Error(err)
	}
}

// fast: a thousand plans are there within a second. Of three times the best counts, for other processes compute, too.
func fast(t *testing.T, browser context.Context, url string) {
	best := 1e9
	for range 3 {
		b := open(t, browser, url)
		want(b, `document.querySelectorAll(".cell").length`, plans)
		best = min(best, value[float64](b, `performance.getEntriesByType("navigation")[0].loadEventEnd`))
	}
	t.Logf("%.0f ms", best)
	if best > 1000 {
		t.Errorf("the page takes %.0f ms", best)
	}
}

// scheme has a tab prefer light or dark.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: prefers(name)})
}

func prefers(scheme string) []*emulation.MediaFeature {
	return []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
}

// faint lists texts whose contrast is less than WCAG's 4.5, as the browser has computed the colours.
const faint = `(() => {
	const parse = (color) => color.match(/[\d.]+/g).map(Number);
	const light = (color) => {
		const [r, g, b] = parse(color).slice(0, 3).map((v) => v / 255).map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
		return .2126 * r + .7152 * g + .0722 * b;
	};
	const behind = (element) => {
		for (let e = element; e; e = e.parentElement) {
			const color = getComputedStyle(e).backgroundColor, parts = parse(color);
			if (parts.length < 4 || parts[3] === 1) return color;
		}
		return "rgb(255, 255, 255)";
	};
	const found = new Map();
	let texts = 0;
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		const e = node.parentElement;
		if (!node.data.trim() || !e.checkVisibility()) continue;
		texts++;
		const a = light(getComputedStyle(e).color), b = light(behind(e));
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (ratio < 4.5) found.set(e.tagName + "." + e.className, ratio.toFixed(2));
	}
	return texts < 1000 ? "only " + texts + " texts" : [...found].map((f) => f.join(" ")).join("\n");
})()`

// readable fails if a text can hardly be read.
func readable(b *tab) {
	b.t.Helper()
	if texts := value[string](b, faint); texts != "" {
		b.t.Errorf("texts of too little contrast:\n%s", texts)
	}
}

// contrast: all text can be read, also that of stories and of an open plan.
func contrast(t *testing.T, browser context.Context, url, name string) {
	b := open(t, browser, url, scheme(name))
	want(b, `matchMedia("(prefers-color-scheme: dark)").matches`, name == "dark")
	picture(b, name)
	b.script(`document.querySelectorAll("details").forEach((d) => d.open = true)`)
	readable(b)
	b.script(`document.querySelectorAll("details").forEach((d) => d.open = false); document.querySelector(".cell.finding").click()`)
	readable(b)
	picture(b, name+"-plan")
	b.script(`document.querySelector("dialog").close(); document.querySelector("details.finding").open = true`)
	picture(b, name+"-finding")
}

// active is the plan of the cell that has the focus.
const active = `(document.activeElement.dataset.plans ?? document.activeElement.tagName)`

// keyboard: one stop of the Tab key, arrows within the grid, Enter and Escape, and the focus comes back.
func keyboard(t *testing.T, browser context.Context, url string) {
	b := open(t, browser, url)
	b.script(`const at = (row, i) => [...document.querySelectorAll("tbody tr")].filter((r) => r.querySelector(".cell"))[row].querySelectorAll(".cell")[i].dataset.plans`)
	b.do(chromedp.Focus(chromedp.CSS("#only")))
	b.press(kb.Tab)
	want(b, active+` === at(0, 0)`, true)
	for _, step := range []struct{ key, at string }{
		{kb.ArrowRight, "at(0, 1)"}, {kb.ArrowDown, "at(1, 1)"}, {kb.ArrowLeft, "at(1, 0)"}, {kb.ArrowLeft, "at(1, 0)"}, {kb.ArrowUp, "at(0, 0)"}, {kb.ArrowUp, "at(0, 0)"},
		{kb.End, "at(0, 7)"}, {kb.PageDown, "at(10, 7)"}, {kb.PageUp, "at(0, 7)"}, {kb.Home, "at(0, 0)"},
	} {
		b.press(step.key)
		want(b, active+` === `+step.at, true)
	}
	b.do(chromedp.KeyEvent(kb.End, chromedp.KeyModifiers(kb.ModifierCtrl)))
	want(b, active+` === at(124, 7)`, true)
	want(b, `document.querySelectorAll(".cell[tabindex='0']").length`, 1)
	b.press(kb.Home, kb.ArrowUp)
	want(b, active+` === at(123, 0)`, true)
	b.press(kb.Enter)
	want(b, `document.querySelector("dialog").open && document.querySelector("dialog h2").textContent.includes("shop-23")`, true)
	want(b, `document.querySelector("dialog").contains(document.activeElement)`, true)
	b.press(kb.Tab, kb.Tab, kb.Tab)
	want(b, `document.querySelector("main").contains(document.activeElement)`, false)
	b.press(kb.Escape)
	want(b, `document.querySelector("dialog").open`, false)
	want(b, active+` === at(123, 0)`, true)
	b.press(kb.Tab)
	want(b, `document.querySelector("[role=grid]").contains(document.activeElement)`, false)
}

// pointer: a cell under it says what it is, a click opens the plan with its story and timeline, and one beside closes
// it.
func pointer(t *testing.T, browser context.Context, url, id string) {
	b := open(t, browser, url)
	b.do(chromedp.ScrollIntoView(chromedp.CSS(`[id="`+id+`"]`)), chromedp.Click(chromedp.CSS(`[id="`+id+`"]`)))
	want(b, `document.querySelector("dialog").open`, true)
	want(b, `document.getElementById("`+id+`").title.startsWith("finding 1: ")`, true)
	for selector, n := range map[string]int{".want": 3, ".got": 3, ".writes li": 9, ".writes .fault": 1, ".timeline[open] li": 40, ".timeline .fault": 1} {
		want(b, `document.querySelectorAll("dialog `+selector+`").length`, n)
	}
	want(b, `document.querySelector("dialog .replay code").textContent`, "slipway prove -f prove/shop.yaml --replay "+id)
	b.do(chromedp.ScrollIntoView(chromedp.CSS("dialog .copy")), chromedp.Click(chromedp.CSS("dialog .copy")))
	b.wait(`document.querySelector("dialog .copy").textContent === "Copied" || getSelection().toString().includes("--replay")`)
	b.do(chromedp.MouseClickXY(40, 450))
	want(b, `document.querySelector("dialog").open`, false)
}

// link: the address of a plan opens it, also from the list of a finding.
func link(t *testing.T, browser context.Context, url, id string) {
	b := open(t, browser, url+"#"+id)
	want(b, `document.querySelector("dialog").open && document.querySelector("dialog .replay code").textContent.endsWith("`+id+`")`, true)
	b.press(kb.Escape)
	want(b, `location.hash`, "")
	want(b, active, id)
	b.script(`document.querySelectorAll("details").forEach((d) => d.open = true)`)
	b.do(chromedp.Click(chromedp.CSS(".others a")))
	b.wait(`document.querySelector("dialog").open`)
	want(b, `document.querySelector("dialog .replay code").textContent.endsWith(document.querySelector(".others a").hash.slice(1))`, true)
}

// filter: rows in which all plans held can be hidden, and the keyboard passes over them.
func filter(t *testing.T, browser context.Context, url string) {
	b := open(t, browser, url)
	b.do(chromedp.Focus(chromedp.CSS("#only")))
	b.press(" ")
	want(b, `[...document.querySelectorAll("tbody tr:not(.step)")].filter((r) => r.offsetParent).every((r) => r.querySelector(".cell:not(.held)"))`, true)
	b.press(kb.Tab, kb.ArrowDown)
	want(b, `document.activeElement.matches(".cell") && document.activeElement.offsetParent !== null`, true)
}

// harmless: markup and control characters of others are text.
func harmless(t *testing.T, browser context.Context, url string) {
	b := open(t, browser, url)
	b.script(`document.querySelectorAll("details").forEach((d) => d.open = true); document.querySelector(".cell").click()`)
	want(b, `"hit" in window`, false)
	want(b, `document.querySelectorAll("img").length + document.scripts.length`, 1)
	want(b, `/[\x00-\x08\x1b\u202e]/.test(document.documentElement.textContent)`, false)
	for _, selector := range []string{"h2 span:last-child", ".want code", ".writes li", ".timeline li", "dt"} {
		text := value[string](b, `document.querySelector("dialog `+selector+`").innerText`)
		if !strings.Contains(text, `<img src=x onerror="window.hit=1">`) || !strings.Contains(text, `\x1b[31m\u202e\a`) {
			t.Errorf("%s is %q", selector, text)
		}
	}
	picture(b, "hostile")
}

// withoutScript: the findings are listed.
func withoutScript(t *testing.T, browser context.Context, url string, findings int) {
	b := open(t, browser, url, command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	want(b, `document.documentElement.className`, "")
	want(b, `[...document.querySelectorAll("details.finding > summary")].filter((e) => e.checkVisibility()).length`, findings)
	want(b, `document.querySelector(".copy").checkVisibility()`, false)
	b.do(chromedp.Click(chromedp.CSS("details.finding > summary")))
	want(b, `document.querySelector("details.finding > .story").checkVisibility()`, true)
}

// printed: stories are printed though they are closed, and what is for the pointer is not. Paper is light.
func printed(t *testing.T, browser context.Context, url string) {
	b := open(t, browser, url, command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: prefers("dark")}))
	readable(b)
	picture(b, "print")
	want(b, `document.querySelector("details.finding").open`, false)
	want(b, `document.querySelector("details.finding > .story").getBoundingClientRect().height > 100`, true)
	want(b, `document.querySelector(".copy").checkVisibility()`, false)
	want(b, `getComputedStyle(document.querySelector(".cell.finding")).printColorAdjust`, "exact")
}

// narrow: on a phone nothing but the matrix is wider than the window.
func narrow(t *testing.T, browser context.Context, url string) {
	b := open(t, browser, url, command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 400, Height: 800, DeviceScaleFactor: 1, Mobile: true}))
	want(b, `document.documentElement.scrollWidth`, 400)
	picture(b, "narrow")
}
