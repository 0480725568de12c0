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

// programs are the names under which a Chromium is installed.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell"}

// start starts a browser, or skips the test if there is none.
func start(t *testing.T) context.Context {
	t.Helper()
	program := ""
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is in PATH: " + strings.Join(programs, ", "))
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1440, 900), chromedp.DisableGPU,
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
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context of its first action
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	page, _, _ := strings.Cut(url, "#")
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
			if asked, _, _ := strings.Cut(e.Request.URL, "#"); asked != page {
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

// script runs statements.
func (b *tab) script(statements string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](statements))
}

// wait waits until an expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	b.do(chromedp.Poll[chromedp.Void](expression))
}

// want fails unless an expression has the value.
func want[T comparable](b *tab, expression string, wanted T) {
	b.t.Helper()
	if got := value[T](b, expression); got != wanted {
		b.t.Errorf("%s = %v, want %v", expression, got, wanted)
	}
}
