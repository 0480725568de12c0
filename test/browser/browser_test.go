package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// limit bounds what a test does in the browser.
const limit = 2 * time.Minute

// patience bounds how long a page takes to show something.
const patience = 20 * time.Second

// programs are the names under which a Chromium is installed.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell"}

// program returns the browser that CHROME names, or the first one in PATH.
func program(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("CHROME"); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			t.Fatalf("CHROME names no program: %v", err)
		}
		return path
	}
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("no browser is in PATH (%s), and CHROME names none; install the package chromium: apt-get install chromium", strings.Join(programs, ", "))
	return ""
}

// start starts a browser.
func start(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program(t)), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1440, 900), chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(limit))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to start as root with it
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// A tab shows a page.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu    sync.Mutex
	asked int      // requests
	noise []string // what a page should not cause
}

// open opens a page in a tab of its own. In the end the page must have caused no error and no request but for itself.
func open(t *testing.T, browser context.Context, url string, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	page, _, _ := strings.Cut(url, "#")
	return openTab(t, browser, url, func(asked string) bool { return asked == page }, before...)
}

// openTab opens a page that may only ask for some addresses.
func openTab(t *testing.T, browser context.Context, url string, may func(asked string) bool, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context of its first action
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.noise = append(b.noise, "exception: "+e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			b.noise = append(b.noise, fmt.Sprintf("console.%s", e.Type))
		case *log.EventEntryAdded:
			b.noise = append(b.noise, fmt.Sprintf("log: %s %s", e.Entry.Level, e.Entry.Text))
		case *network.EventRequestWillBeSent:
			b.asked++
			if asked, _, _ := strings.Cut(e.Request.URL, "#"); !may(asked) {
				b.noise = append(b.noise, "request: "+e.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.do(command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}))
	b.do(before...)
	b.do(chromedp.Navigate(url))
	t.Cleanup(b.quiet)
	return b
}

// command sends a command of the protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// forgive forgets what a page has caused so far because a test has broken something.
func (b *tab) forgive() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.noise = nil
}

// quiet fails if the page has caused something.
func (b *tab) quiet() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked == 0 {
		b.t.Error("no request was seen, not even that for the page")
	}
	for _, text := range b.noise {
		b.t.Error(text)
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// press presses keys one after the other.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.do(chromedp.KeyEvent(key))
	}
}

// value is that of an expression.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// awaited is what a promise becomes.
func awaited[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// pause lets the page go on for a time that it measures itself.
func (b *tab) pause(ms int) {
	b.t.Helper()
	awaited[bool](b, fmt.Sprintf(`new Promise((done) => setTimeout(() => done(true), %d))`, ms))
}

// script runs statements.
func (b *tab) script(statements string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](statements))
}

// wait waits until an expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	// chromedp.Poll makes functions of texts, which a page may forbid.
	look := `new Promise((done) => {
		const until = Date.now() + ` + fmt.Sprint(patience.Milliseconds()) + `;
		const look = () => { if (` + expression + `) done(true); else if (Date.now() > until) done(false); else setTimeout(look, 10); };
		look();
	})`
	if !awaited[bool](b, look) {
		picture(b, "failed")
		b.t.Fatalf("still false: %s", expression)
	}
}

// want fails unless an expression has the value.
func want[T comparable](b *tab, expression string, wanted T) {
	b.t.Helper()
	if got := value[T](b, expression); got != wanted {
		b.t.Errorf("%s = %v, want %v", expression, got, wanted)
	}
}
