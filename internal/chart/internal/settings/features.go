package settings

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
	"github.com/slipway-dev/slipway/internal/lazy"
)

func (t *extractor) takeFeatures() {
	for _, f := range t.model.Features {
		t.values.Describe(f.Value, f.What)
		t.values.Set(f.Value+".enabled", "", true)
		switch f.Name {
		case "metrics":
			t.takePort("metrics.port", "Ports of the manager and its Service.", metricsArgument(), "")
		case "webhook":
			t.takePort("webhook.port", "Port of the manager that the Service leads to.", webhookArgument(), "-1")
		case "prometheus":
			t.takeMonitors()
		}
	}
}

// takeMonitors makes the labels and annotations of ServiceMonitors settings.
func (t *extractor) takeMonitors() {
	for _, d := range t.model.Documents {
		if d.Of("monitoring.coreos.com", "ServiceMonitor") {
			metadata := d.Object.Ensure("metadata")
			t.more(metadata.Ensure("labels"), "prometheus.labels", "More labels and annotations of the ServiceMonitor.")
			t.more(metadata.Ensure("annotations"), "prometheus.annotations", "")
		}
	}
}

// Arguments that set the manager's ports.
var (
	metricsArgument = lazy.Regexp(`^(--metrics-bind-address=[^:]*:)([0-9]+)$`)
	webhookArgument = lazy.Regexp(`^(--webhook-port=)([0-9]+)$`)
	probeArgument   = lazy.Regexp(`^(--health-probe-bind-address=[^:]*:)([0-9]+)$`)
)

// takePort makes a port a setting: in the manager's argument, and wherever Services, network policies, the container
// and its probes have the same port. Without the feature that adds the argument, the port is off, unless that is "":
// kubebuilder's managers serve webhooks unless their port is -1.
func (t *extractor) takePort(path, comment string, argument *regexp.Regexp, off string) {
	manager := t.manager()
	if manager == nil {
		return
	}
	args := container(manager).List("args")
	if args == nil {
		return
	}
	action := value(path)
	for i, item := range args.Items {
		s, _ := item.Value.(tree.Scalar)
		text, _ := s.Value.(string)
		match := argument.FindStringSubmatch(text)
		if match == nil {
			continue
		}
		port, err := strconv.ParseInt(match[2], 10, 32)
		if err != nil {
			return
		}
		t.values.Set(path, comment, port)
		args.Items[i].Value = tree.Action(match[1] + "{{ " + action + " }}")
		if off != "" && !item.When.Always() {
			args.Items = slices.Insert(args.Items, i+1, tree.Item{When: item.When.Not(), Value: tree.Scalar{Value: match[1] + off}})
		}
		t.replacePort(port, tree.Action("{{ "+action+" }}"))
		return
	}
}

func (t *extractor) replacePort(port int64, action tree.Action) {
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
				for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
					if get := c.At(probe, "httpGet"); get != nil {
						lists = append(lists, &tree.List{Items: []tree.Item{{Value: get}}})
					}
				}
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
