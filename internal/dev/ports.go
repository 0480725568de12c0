package dev

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

const (
	probeAddress = ":8081" // where a manager serves health probes unless probeFlag says otherwise
	probeFlag    = "health-probe-bind-address"
)

// probesElsewhere returns args so that the manager, a compiled program, finds a port for its health probes when
// their usual address is taken. On a developer's machine nobody asks for them, and a second operator, or what else
// listens there, would keep the manager from starting. Who names an address gets it; a manager that is not
// known to use the usual one is left alone.
func (o Options) probesElsewhere(manager, usual string, args []string) ([]string, error) {
	if slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, probeFlag) }) || !taken(usual) {
		return args, nil
	}
	program, err := os.ReadFile(manager)
	if err != nil {
		return nil, fmt.Errorf("find the manager's flags: %w", err)
	}
	if !bytes.Contains(program, []byte(probeFlag)) || !bytes.Contains(program, []byte(usual)) {
		return args, nil
	}
	o.Handler.Handle(report.Note{Text: "port " + strings.TrimPrefix(usual, ":") + " is taken: the manager serves its health probes at a free one, which its log names; " +
		"if another manager of this project has it, end that one, for both would reconcile"})
	return append([]string{"--" + probeFlag + "=127.0.0.1:0"}, args...), nil // in front: flags end at the first argument that is none
}

// webhooksTaken is why a manager cannot serve webhooks at a port, or nil. It listens at all addresses, and is asked at one: not every system
// refuses the one to who has the other.
func webhooksTaken(port string) error {
	address := "127.0.0.1:" + port
	if !taken(address) && !taken(":"+port) {
		return nil
	}
	return &report.Error{
		What: "the port of the webhooks is taken", Where: address,
		Hint: "another manager on this machine, or a pod that is a plain process, serves there; end it, or run without webhooks",
		Next: "ENABLE_WEBHOOKS=false slipway run",
	}
}

// taken reports whether a manager could not listen at a TCP address of this machine.
func taken(address string) bool {
	l, err := net.Listen("tcp", address)
	if err == nil {
		l.Close()
	}
	return err != nil
}
