package clusterctl

import (
	"cmp"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/report"
)

// refuse returns an error if o asks for another cluster than the one that runs with the
// configuration is: to do nothing about that would be silence, and to restart
// a cluster is for its user to decide.
func (o Options) refuse(s *Status, is Spec) error {
	lost := ", which deletes its data"
	if is.Durable {
		lost = ""
	}
	if err := clusterspec.CheckNeeds(o.Spec, clusterspec.Resume(o.Spec, is, o.Whole), command("start", s.Name)); err != nil {
		if e, ok := errors.AsType[*report.Error](err); ok {
			e.Hint, e.Next = e.Hint+"; stop the cluster first"+lost, command("stop", s.Name)
		}
		return err
	}
	// A port that a cluster does not report yet may be the requested one.
	is.Port, is.RegistryPort = cmp.Or(portOf(s.Server), o.Port), cmp.Or(portOf("//"+s.Registry), o.RegistryPort)
	lines := clusterspec.Differences(o.Spec, is, o.Whole)
	if len(lines) == 0 {
		return nil
	}
	return &report.Error{Class: report.Conflict, What: "cluster " + s.Name + " runs with another configuration",
		Hint: strings.Join(append(lines, "to apply it, stop the cluster and start it again like this"+lost), "\n"),
		Next: command("stop", s.Name)}
}

// portOf returns the port of a URL; 0 if it has none.
func portOf(server string) int {
	u, err := url.Parse(server)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}
