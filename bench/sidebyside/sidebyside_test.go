package sidebyside_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// TestMain lets the test binary be the process that is measured.
func TestMain(m *testing.M) {
	switch os.Getenv("SIDEBYSIDE") {
	case "work":
		for deadline := time.Now().Add(50 * time.Millisecond); time.Now().Before(deadline); {
		}
		os.Exit(0)
	case "fail":
		os.Stderr.WriteString("no disk\n")
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func process(mode string) sidebyside.Contender {
	return sidebyside.Process(mode, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), "SIDEBYSIDE="+mode)
		return cmd
	})
}

// scripted is a contender whose runs take what the samples say, the first of
// which is the warm-up. It writes its name to log.
func scripted(name string, log *strings.Builder, wall ...time.Duration) sidebyside.Contender {
	return sidebyside.Contender{
		Name:    name,
		Prepare: func(context.Context) error { log.WriteString(strings.ToLower(name)); return nil },
		Run: func(context.Context) (sidebyside.Sample, error) {
			log.WriteString(name)
			sample := sidebyside.Sample{Wall: wall[0], CPU: 2 * wall[0]}
			wall = wall[1:]
			return sample, nil
		},
	}
}

func TestCompareRunsInTurn(t *testing.T) {
	var log strings.Builder
	results, err := sidebyside.Compare(t.Context(), 3,
		scripted("A", &log, 99, 1, 9, 2), scripted("B", &log, 99, 40, 10, 20))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("aAbB", 4); log.String() != want {
		t.Errorf("ran %s, want %s", &log, want)
	}
	row := sidebyside.Row{Ours: results[0], Peer: results[1], Bar: 0.1}
	if want := (sidebyside.Sample{Wall: 2, CPU: 4}); row.Ours.Median() != want {
		t.Errorf("median %v, want %v", row.Ours.Median(), want)
	}
	if row.Ratio() != 0.1 || row.CPURatio() != 0.1 || !row.Passed() {
		t.Errorf("ratios %v and %v, passed %v", row.Ratio(), row.CPURatio(), row.Passed())
	}
}

func TestMedianOfEvenCount(t *testing.T) {
	r := sidebyside.Result{Samples: []sidebyside.Sample{{Wall: 10}, {Wall: 2}, {Wall: 4}, {Wall: 100}}}
	if got := r.Median().Wall; got != 7 {
		t.Errorf("median %d, want 7", got)
	}
}

func TestNoSamplesPassNoBar(t *testing.T) {
	if (sidebyside.Row{Bar: 1}).Passed() {
		t.Error("a row without samples passed")
	}
}

func TestProcessIsMeasured(t *testing.T) {
	results, err := sidebyside.Compare(t.Context(), 1, process("work"))
	if err != nil {
		t.Fatal(err)
	}
	if got := results[0].Median(); got.Wall < 50*time.Millisecond || got.CPU <= 0 {
		t.Errorf("measured %v for 50 ms of work", got)
	}
	if got := results[0].Samples[0].Peak; runtime.GOOS == "linux" && got < 1<<20 {
		t.Errorf("measured a peak of %d bytes", got)
	}
}

func TestFailureTellsOutput(t *testing.T) {
	_, err := sidebyside.Compare(t.Context(), 1, process("fail"))
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 3 || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("got %v, want exit status 3 with the process's output", err)
	}
}

func TestFailedPreparation(t *testing.T) {
	failure := errors.New("no folder")
	c := sidebyside.Contender{Name: "A", Prepare: func(context.Context) error { return failure }}
	if _, err := sidebyside.Compare(t.Context(), 1, c); !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	row := sidebyside.Row{
		Case: "warm",
		Ours: sidebyside.Result{Name: "ours", Samples: []sidebyside.Sample{{Wall: 12 * time.Millisecond, CPU: 15 * time.Millisecond}}},
		Peer: sidebyside.Result{Name: "peer", Samples: []sidebyside.Sample{{Wall: 100 * time.Millisecond, CPU: 300 * time.Millisecond}}},
		Bar:  0.1,
	}
	if err := sidebyside.Table(&b, row); err != nil {
		t.Fatal(err)
	}
	const want = "| warm: ours against peer | 1 | 12.0 ms | 100.0 ms | 0.120 | 0.10 missed | 15.0 ms | 300.0 ms | 0.050 |\n"
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("got\n%s\nwant as its last line\n%s", &b, want)
	}
}
