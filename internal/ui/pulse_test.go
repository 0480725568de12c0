package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestPulse: a step that takes long is never silent for more than three seconds, and one that ended is.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []report.Event
		p := &pulse{next: report.HandlerFunc(func(e report.Event) { got = append(got, e) })}
		step := report.Step{Name: "building"}
		p.Handle(step)
		time.Sleep(7 * time.Second)
		ended := report.Step{Name: "built", Elapsed: 7 * time.Second}
		p.Handle(ended)
		time.Sleep(time.Minute)
		want := []report.Event{step, report.Progress{Name: "building", Elapsed: 3 * time.Second},
			report.Progress{Name: "building", Elapsed: 6 * time.Second}, ended}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPulseParts: while parts of a loop work, the one that has for longest gives a sign of life.
func TestPulseParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []report.Event
		p := &pulse{next: report.HandlerFunc(func(e report.Event) {
			if _, is := e.(report.Progress); is {
				got = append(got, e)
			}
		})}
		p.Handle(report.Part{Name: report.BuildPart, State: report.Working})
		time.Sleep(time.Second)
		p.Handle(report.Part{Name: report.InstallPart, State: report.Working})
		time.Sleep(time.Second)
		p.Handle(report.Part{Name: report.InstallPart, State: report.Ready})
		time.Sleep(4 * time.Second)
		p.Handle(report.Part{Name: report.BuildPart, State: report.Failed})
		time.Sleep(time.Minute)
		want := []report.Event{report.Progress{Name: "build", Elapsed: 5 * time.Second}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPulseShortSteps: steps that follow each other are not silent for more than three seconds together.
func TestPulseShortSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []report.Event
		p := &pulse{next: report.HandlerFunc(func(e report.Event) {
			if _, is := e.(report.Step); !is {
				got = append(got, e)
			}
		})}
		for _, name := range []string{"one", "two", "three", "four"} {
			p.Handle(report.Step{Name: name})
			time.Sleep(2500 * time.Millisecond)
		}
		p.Handle(report.Result{})
		want := []report.Event{report.Progress{Name: "two", Elapsed: 500 * time.Millisecond}, report.Progress{Name: "three", Elapsed: time.Second},
			report.Progress{Name: "four", Elapsed: 1500 * time.Millisecond}, report.Result{}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPulseDetails: what a step is doing is shown with the next sign of life, and is no sign of life itself.
func TestPulseDetails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []report.Event
		p := &pulse{next: report.HandlerFunc(func(e report.Event) { got = append(got, e) })}
		p.Handle(report.Detail{Text: "nothing goes on"})
		first, second := report.Step{Name: "building"}, report.Step{Name: "testing"}
		p.Handle(first)
		p.Handle(report.Detail{Text: "the roof"})
		time.Sleep(2 * time.Second)
		p.Handle(report.Detail{Text: "the floor"})
		time.Sleep(2 * time.Second)
		p.Handle(second)
		time.Sleep(4 * time.Second)
		p.Handle(report.Result{})
		want := []report.Event{first, report.Progress{Name: "building: the floor", Elapsed: 3 * time.Second},
			second, report.Progress{Name: "testing", Elapsed: 2 * time.Second}, report.Result{}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPause: while an answer is awaited, no step goes on.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := 0
		p := &pulse{next: report.HandlerFunc(func(report.Event) { events++ })}
		p.Handle(report.Step{Name: "looking"})
		Pause(p)
		Pause(report.Discard)
		time.Sleep(time.Minute)
		if events != 1 {
			t.Errorf("got %d events, want the step alone", events)
		}
	})
}

// TestPulseEndsWithError: nothing follows the error that ended the invocation.
func TestPulseEndsWithError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := 0
		p := &pulse{next: report.HandlerFunc(func(report.Event) { events++ })}
		p.Handle(report.Step{Name: "building"})
		Fail(p, &report.Error{What: "it does not build"})
		time.Sleep(time.Minute)
		if events != 2 {
			t.Errorf("%d events, and not the step and the error", events)
		}
	})
}
