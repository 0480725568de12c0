package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

func TestStages(t *testing.T) {
	begin := time.Now()
	part := func(after time.Duration, name, state string) event {
		return event{at: begin.Add(after * time.Millisecond), Event: "part", Name: name, State: state}
	}
	s := series{}
	s.addStages([]event{
		part(40, "generate", "working"), part(90, "generate", "ready"),
		part(90, "build", "working"), part(91, "install", "working"), part(191, "install", "ready"), part(1090, "build", "ready"),
		{at: begin, Event: "output", Part: "manager", Text: "a line"},
		part(1090, "manager", "working"), part(1150, "manager", "ready"),
	}, begin, begin.Add(1400*time.Millisecond))
	want := series{stageCounts: {40}, stageGenerate: {50}, stageInstall: {100}, stageBuild: {1000}, stageRestart: {60}, stageReconcile: {250}}
	if !maps.EqualFunc(s, want, slices.Equal) {
		t.Errorf("got %v, want %v", s, want)
	}
}

func TestMoreIsTheDifferenceOfMedians(t *testing.T) {
	s := series{savedLoop: {3000, 1500, 2000}, savedBuild: {1300, 1200, 9000}}
	f := s.more("more", savedLoop, savedBuild, sidebyside.AtMost(700))
	if got := sidebyside.Median(f.Ours); got != 700 || !f.Passed() {
		t.Errorf("got %v more, passed %v", got, f.Passed())
	}
}

func TestReplaceRefusesOtherCode(t *testing.T) {
	p := project(t.TempDir())
	file := filepath.Join(string(p), "a.go")
	for text, want := range map[string]error{"mark 1\n": nil, "mark 1 and mark 2\n": errOtherCode, "none\n": errOtherCode} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.replace("a.go", regexp.MustCompile(`mark \d+`), "mark 3"); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", text, err, want)
		}
		if got, err := os.ReadFile(file); want == nil && (err != nil || string(got) != "mark 3\n") {
			t.Errorf("%q: the file has %q, %v", text, got, err)
		}
	}
}
