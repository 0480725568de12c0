package settings

import (
	"strconv"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
	"github.com/slipway-dev/slipway/internal/lazy"
)

// takeFeatures adds a switch for each feature.
func (t *taker) takeFeatures() {
	for _, f := range t.model.Features {
		t.values.Describe(f.Value, f.What)
		t.values.Set(f.Value+".enable", "", true)
		if f.Name == "metrics" {
			t.takeMetricsPort()
		}
	}
}

var metricsArgument = lazy.Regexp(`^(--metrics-bind-address=[^:]*:)([0-9]+)$`)

// takeMetricsPort makes the port of the metrics a setting: that of the manager's argument, and the same
// port wherever it is of Services, network policies and the container.
func (t *taker) takeMetricsPort() {
	manager := t.manager()
	if manager == nil {
		return
	}
	args := container(manager).List("args")
	if args == nil {
		return
	}
	action := value("metrics.port")
	for i, item := range args.Items {
		s, _ := item.Value.(tree.Scalar)
		text, _ := s.Value.(string)
		match := metricsArgument().FindStringSubmatch(text)
		if match == nil {
			continue
		}
		port, err := strconv.ParseInt(match[2], 10, 32)
		if err != nil {
			return
		}
		t.values.Set("metrics.port", "Ports of the manager and its Service.", port)
		args.Items[i].Value = tree.Action(match[1] + "{{ " + action + " }}")
		t.replacePort(port, tree.Action("{{ "+action+" }}"))
		return
	}
}

// replacePort replaces a port by an action where ports are listed.
func (t *taker) replacePort(port int64, action tree.Action) {
	for _, d := range t.model.Documents {
		var lists []*tree.List
		switch {
		case d.Of("", "Service"):
			lists = append(lists, d.Object.At("spec").List("ports"))
		case d.Of("networking.k8s.io", "NetworkPolicy"):
			for _, rule := range d.Object.At("spec").List("ingress").Maps() {
				lists = append(lists, rule.List("ports"))
			}
		case d.Of("apps", "Deployment"):
			for _, c := range d.Object.At("spec", "template", "spec").List("containers").Maps() {
				lists = append(lists, c.List("ports"))
			}
		}
		for _, list := range lists {
			for _, entry := range list.Maps() {
				for i, f := range entry.Fields {
					if s, ok := f.Value.(tree.Scalar); ok && s.Value == port {
						entry.Fields[i].Value = action
					}
				}
			}
		}
	}
}
