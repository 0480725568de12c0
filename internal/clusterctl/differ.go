package clusterctl

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterfile"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// refuse returns an error if o asks for another cluster than the one that runs with the
// configuration is: to do nothing about that would be silence, and to restart
// a cluster is for its user to decide.
func (o Options) refuse(s *Status, is Spec) error {
	lines := o.differences(is, s)
	if len(lines) == 0 {
		return nil
	}
	lost := ", which deletes its data"
	if is.Durable {
		lost = ""
	}
	return &report.Error{What: "cluster " + s.Name + " runs with another configuration",
		Hint: strings.Join(append(lines, "to apply it, stop the cluster and start it again like this"+lost), "\n"),
		Next: command("stop", s.Name)}
}

// differences lists what o asks for and a cluster with the configuration is does not have.
func (o Options) differences(is Spec, s *Status) []string {
	var lines []string
	differs := func(key, asked, has string) {
		if asked != has {
			lines = append(lines, fmt.Sprintf("%s: requested %s, the cluster has %s", key, asked, has))
		}
	}
	if port := portOf(s.Server); o.Port != 0 && port != 0 {
		differs("port", strconv.Itoa(o.Port), strconv.Itoa(port))
	}
	if has := portOf("//" + s.Registry); o.RegistryPort != 0 && has != 0 {
		differs("registry port", strconv.Itoa(o.RegistryPort), strconv.Itoa(has))
	}
	if o.Durable && !is.Durable {
		lines = append(lines, "durable: requested, but the cluster loses its data when it stops")
	}
	if o.Controllers != nil {
		differs("controllers", clusterfile.ControllersOf(o.Spec).String(), clusterfile.ControllersOf(is).String())
	}
	if o.SimulatedPods != "" || o.File != nil {
		differs("simulated pods", cmp.Or(o.SimulatedPods, usual), cmp.Or(is.SimulatedPods, usual))
	}
	if o.SimulatedJobs != "" || o.File != nil {
		differs("simulated Jobs", cmp.Or(o.SimulatedJobs, usual), cmp.Or(is.SimulatedJobs, is.SimulatedPods, usual))
	}
	if o.Nodes != nil || o.File != nil {
		differs("nodes", described(o.Nodes), described(is.Nodes))
	}
	if o.NodeKind != protocol.DefaultNodes {
		differs("kind of nodes", string(o.NodeKind), describedKind(is))
	}
	if asked := o.SimulateMissingImages; asked != nil && is.NodeKind.RunContainers() {
		differs("simulating missing images", strconv.FormatBool(*asked), strconv.FormatBool(is.SimulateMissingImages != nil && *is.SimulateMissingImages))
	}
	if asked := o.Egress; asked != nil || o.File != nil && is.Egress != nil {
		differs("egress", onOff(asked), onOff(is.Egress))
	}
	if asked := o.HostPorts; asked != nil {
		differs("host ports", listedPorts(asked), cmp.Or(listedPorts(is.HostPorts), "none"))
	}
	compare(differs, "feature gate", o.FeatureGates, is.FeatureGates, o.File != nil)
	compare(differs, "runtime config", o.RuntimeConfig, is.RuntimeConfig, o.File != nil)
	if len(o.APIServerFlags) > 0 || o.File != nil {
		differs("API server flags", listed(o.APIServerFlags), listed(is.APIServerFlags))
	}
	return lines
}

// onOff says what a switch is that is off by default.
func onOff(is *bool) string {
	if is != nil && *is {
		return "on"
	}
	return "off"
}

// usual is what becomes of simulated pods by default.
const usual = "complete"

// compare tells the keys that are other than asked for; with whole also those that are not asked for.
func compare[V any](differs func(key, asked, has string), what string, asked, has map[string]V, whole bool) {
	keys := slices.Collect(maps.Keys(asked))
	if whole {
		keys = slices.AppendSeq(keys, maps.Keys(has))
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		differs(what+" "+key, value(asked, key), value(has, key))
	}
}

// describedKind tells the kind of a cluster's nodes as people read it.
func describedKind(is Spec) string {
	if is.Joins() {
		return "simulated, and an isolated one joins when an image is loaded"
	}
	return string(cmp.Or(is.NodeKind, protocol.SimulatedNodes))
}

func value[V any](m map[string]V, key string) string {
	if v, ok := m[key]; ok {
		return fmt.Sprint(v)
	}
	return "the default"
}

func listed(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, " ")
}

// described tells nodes as they are given on the command line.
func described(nodes []Node) string {
	if nodes == nil {
		return "the default one"
	}
	var all []string
	for _, n := range nodes {
		all = append(all, clusterfile.FormatNode(n))
	}
	return listed(all)
}

// portOf returns the port of a URL; 0 if it has none.
func portOf(server string) int {
	u, err := url.Parse(server)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return 0
	}
	return port
}
