package generator_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

type options struct {
	Name string `marker:",optional"`
}

func greeter(name, doc string, markers ...marker.Definition) generator.Generator {
	return generator.New(name, doc, markers, func(_ context.Context, pass *generator.Pass, o options) error {
		pass.Config("greeting.txt", []byte("hello "+o.Name))
		return nil
	})
}

func TestRun(t *testing.T) {
	g := greeter("greet", "greets")
	value, problem := marker.ParseOption(g.Options, "name=you")
	if problem != nil {
		t.Fatal(problem)
	}
	pass := &generator.Pass{}
	if err := g.Run(t.Context(), pass, value); err != nil {
		t.Fatal(err)
	}
	if files := pass.Files(); len(files) != 1 || string(files[0].Content) != "hello you" || files[0].Package != nil {
		t.Errorf("got %v", files)
	}
}

func TestValidate(t *testing.T) {
	good := greeter("good", "is fine")
	for name, list := range map[string][]generator.Generator{
		"no doc":      {greeter("a", "")},
		"no name":     {greeter("", "does it")},
		"twice":       {good, good},
		"not made":    {{Name: "a", Doc: "does it"}},
		"bad marker":  {greeter("a", "does it", marker.Define[chan int]("b", marker.Type, ""))},
		"bad options": {generator.New("a", "does it", nil, func(context.Context, *generator.Pass, struct{ C chan int }) error { return nil })},
	} {
		if err := generator.Validate(list); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := generator.Validate([]generator.Generator{good, greeter("other", "is fine too")}); err != nil {
		t.Error(err)
	}
}

func TestHeader(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "header.txt"), []byte("Copyright YEAR us, YEARS ago\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	pass := &generator.Pass{Dir: dir, Loader: load.New(load.Config{Dir: dir})}
	if got, err := pass.Header("header.txt", "2031"); err != nil || got != "Copyright 2031 us, 2031S ago\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := pass.Header("", "2031"); err != nil || got != "" {
		t.Errorf("got %q, %v", got, err)
	}
	var told *report.Error
	if _, err := pass.Header("nowhere.txt", ""); !errors.As(err, &told) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
