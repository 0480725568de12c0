package image_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/image/wire"
	"github.com/slipway-dev/slipway/internal/report"
)

// images asks a script in the place of slipway-image, which notes the request and then does what text says. Events are
// those of the handler.
func images(t *testing.T, text string) (i *image.Images, request func() wire.Request, events *[]report.Event, cache string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\ncat >\"$0.request\"\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	events, cache = new([]report.Event), t.TempDir()
	env := map[string]string{"SLIPWAY_IMAGE": path, "SLIPWAY_CACHE": cache}
	i = image.New(func(key string) string { return env[key] }, report.HandlerFunc(func(e report.Event) { *events = append(*events, e) }))
	return i, func() (r wire.Request) {
		data, err := os.ReadFile(path + ".request")
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	}, events, cache
}

// TestAsk: each call is a request of its own kind, and its answer the result. What is told on the way reaches the
// handler.
func TestAsk(t *testing.T) {
	ctx := t.Context()
	for name, test := range map[string]struct {
		answer string
		call   func(i *image.Images) (any, error)
		asked  func(r wire.Request) bool
		want   any
	}{
		"build":   {`{"name":"a"}`, func(i *image.Images) (any, error) { return i.Build(ctx, wire.Build{Tag: "a"}) }, func(r wire.Request) bool { return r.Build.Tag == "a" }, wire.Image{Name: "a"}},
		"push":    {`{"name":"a"}`, func(i *image.Images) (any, error) { return i.Push(ctx, wire.Push{Ref: "a"}) }, func(r wire.Request) bool { return r.Push.Ref == "a" }, wire.Pushed{Name: "a"}},
		"save":    {`{"name":"a"}`, func(i *image.Images) (any, error) { return i.Save(ctx, wire.Save{Ref: "a"}) }, func(r wire.Request) bool { return r.Save.Ref == "a" }, wire.Saved{Name: "a"}},
		"load":    {`{"images":[{"name":"a"}]}`, func(i *image.Images) (any, error) { return i.Load(ctx, wire.Load{Ref: "a"}) }, func(r wire.Request) bool { return r.Load.Ref == "a" }, wire.Loaded{Images: []wire.Pushed{{Name: "a"}}}},
		"inspect": {`{"name":"a"}`, func(i *image.Images) (any, error) { return i.Inspect(ctx, wire.Inspect{Ref: "a"}) }, func(r wire.Request) bool { return r.Inspect.Ref == "a" }, wire.Image{Name: "a"}},
		"list":    {`[{"name":"a"}]`, func(i *image.Images) (any, error) { return i.List(ctx) }, func(r wire.Request) bool { return r.List != nil }, []wire.Listed{{Name: "a"}}},
		"remove":  {`["a"]`, func(i *image.Images) (any, error) { return i.Remove(ctx, "a", "b") }, func(r wire.Request) bool { return slices.Equal(r.Remove.Refs, []string{"a", "b"}) }, []string{"a"}},
		"login":   {`{"user":"a"}`, func(i *image.Images) (any, error) { return i.Login(ctx, wire.Login{User: "a"}) }, func(r wire.Request) bool { return r.Login.User == "a" }, wire.LoggedIn{User: "a"}},
		"logout":  {`{"known":true}`, func(i *image.Images) (any, error) { return i.Logout(ctx, wire.Logout{Registry: "a"}) }, func(r wire.Request) bool { return r.Logout.Registry == "a" }, wire.LoggedOut{Known: true}},
	} {
		t.Run(name, func(t *testing.T) {
			i, request, events, cache := images(t, `printf '%s\n' '{"protocol":1}' '{"step":{"name":"s"}}' '{"progress":{"name":"p"}}' '{"note":{"text":"n"}}' '{"warning":{"text":"w"}}' '{"result":`+test.answer+`}'`)
			got, err := test.call(i)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
			if r := request(); r.Protocol != wire.Protocol || r.Store != filepath.Join(cache, "images") || !test.asked(r) {
				t.Errorf("the request is %+v", r)
			}
			want := []report.Event{report.Step{Name: "s"}, report.Progress{Name: "p"}, report.Note{Text: "n"}, report.Warning{Text: "w"}}
			if diff := cmp.Diff(want, *events); diff != "" {
				t.Errorf("events: %s", diff)
			}
		})
	}
}

// TestFailures: a failure of the program is the user's, whoever is to blame.
func TestFailures(t *testing.T) {
	for _, test := range []struct{ name, does, what string }{
		{"a failure", `printf '%s\n' '{"protocol":1}' '{"failure":{"what":"no such image","where":"a","code":3}}'; exit 1`, "no such image"},
		{"another protocol", `printf '%s\n' '{"protocol":0}'`, "this is not the slipway-image of this slipway"},
		{"no protocol", `echo hello`, "this is not the slipway-image of this slipway"},
		{"no answer", `printf '%s\n' '{"protocol":1}'; echo broken >&2; exit 1`, "slipway-image failed"},
	} {
		i, _, _, _ := images(t, test.does)
		_, err := i.List(t.Context())
		if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.What != test.what {
			t.Errorf("%s: got %v, want %s", test.name, err, test.what)
		}
	}
	i, _, _, _ := images(t, `printf '%s\n' '{"protocol":1}'`)
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := i.List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an end that comes first gives %v", err)
	}
}

// TestNames reads the names of kept images without the program.
func TestNames(t *testing.T) {
	i, _, _, cache := images(t, "exit 1")
	if names := i.Names(); names != nil {
		t.Errorf("without images there are %v", names)
	}
	if err := os.Mkdir(filepath.Join(cache, "images"), 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		`{"manifests":[{"annotations":{"org.opencontainers.image.ref.name":"b"}},{"annotations":{"org.opencontainers.image.ref.name":"a"}},{},{"annotations":{"org.opencontainers.image.ref.name":"a"}}]}`: {"a", "b"},
		"damaged": nil,
	} {
		if err := os.WriteFile(filepath.Join(cache, "images", "index.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if names := i.Names(); !slices.Equal(names, want) {
			t.Errorf("%s: the names are %v, want %v", text, names, want)
		}
	}
}
