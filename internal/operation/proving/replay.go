package proving

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/ship"
)

// checkReplay reads what the user has given for a replay. One cluster is enough for it.
func (b *bench) checkReplay() error {
	if b.proof.Replay != "" {
		b.proof.Clusters = 1
	}
	for flag, given := range map[string]bool{"--keep": b.proof.Keep, "--debug": b.proof.Debug, "--write-test": b.proof.Test} {
		if given && b.proof.Replay == "" {
			return badFlag(flag, "it is for one plan: add --replay ID, with the ID that a finding shows")
		}
	}
	for flag, given := range map[string]bool{"--keep": b.proof.Keep, "--debug": b.proof.Debug, "--write-test": b.proof.Test} {
		if given && len(b.operators) > 0 {
			return badFlag(flag, "it is for one operator, and the scenario names several")
		}
	}
	if b.proof.Test && (len(b.command)+len(b.install)+len(b.env)+len(b.services) > 0) {
		return badFlag("--write-test", "the test builds the manager of a Go project and installs its CRDs: it has no other operator, and none of the keys install, env and services of a scenario")
	}
	if !b.proof.Debug {
		return nil
	}
	if len(b.command) > 0 {
		return badFlag("--debug", "Delve runs the manager of a Go project, and the scenario or --command names another operator")
	}
	return dev.CheckDebugger()
}

// errClusterEnded says that the cluster that a user looks at is no more.
var errClusterEnded = errors.New("the cluster has ended by itself")

// keep says how to look at what a replay has left, and waits until the user ends it. The cluster outlives the user's
// Ctrl-C by detach, so that all ends in order.
func (b *bench) keep(ctx context.Context, detach func() bool, session *clusterctl.Session, operator prove.Process) error {
	if !detach() {
		return context.Cause(ctx)
	}
	note := func(format string, words ...any) { b.Handler.Handle(report.Note{Text: fmt.Sprintf(format, words...)}) }
	kubeconfig := shellword.Quote(session.Kubeconfig)
	note("the cluster is as the plan has left it; look at it with: slipway kubectl --kubeconfig %s get all --all-namespaces", kubeconfig)
	note("for other programs: export KUBECONFIG=%s", kubeconfig)
	if shown, err := b.showPage(ctx, session); err != nil {
		b.Handler.Handle(report.Warning{Text: report.Advised(err)})
	} else {
		defer shown.Close()
		note("or as a page: %s (the link works once)", shown.Link("/"))
	}
	ended := operator.Done()
	select {
	case <-ended:
		note("the operator has ended; its log is %s", shellword.Quote(b.logs.last()))
	default:
		note("the operator goes on as process %d; its log is %s", operator.PID(), shellword.Quote(b.logs.last()))
	}
	note("Ctrl-C ends the operator and removes the cluster with its files")
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-session.Done():
			return errClusterEnded
		case <-ended:
			ended = nil
			note("the operator has ended: %s", howEnded(operator.Wait()))
		}
	}
}

// showPage serves the page about the cluster.
func (b *bench) showPage(ctx context.Context, session *clusterctl.Session) (*delivery.ShownPage, error) {
	cluster, err := ship.Connect(ship.Kubeconfig{Path: session.Kubeconfig}, b.Handler)
	if err != nil {
		return nil, err
	}
	return delivery.ShowPage(ctx, b.Session, cluster)
}

// howEnded says how a process has ended.
func howEnded(err error) string {
	if err == nil {
		return "without an error"
	}
	return err.Error()
}

// debug starts the manager under Delve.
func (b *bench) debug(front *dev.Front, kubeconfig string, ports *strings.Replacer) (prove.Process, error) {
	seat, err := front.Seat()
	if err != nil {
		return prove.Process{}, err
	}
	former := ""
	if n := len(b.debuggers); n > 0 {
		former = b.debuggers[n-1].Address
	}
	address, err := dev.DebuggerAddress(former)
	if err != nil {
		return prove.Process{}, err
	}
	seat = seat.Debugged(address)
	started, err := b.sit(front, seat, kubeconfig, ports)
	if err != nil {
		return started, err
	}
	debugger := dev.NewDebugger(address)
	b.debuggers = append(b.debuggers, debugger)
	b.Handler.Handle(report.Note{Text: "the manager waits for a debugger, then for its continue: dlv connect " + address})
	started.Stopped = debugger.Stopped
	return started, nil
}
