package clusterspec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Controllers says which of Kubernetes' controllers a cluster runs.
type Controllers struct {
	Run   bool     // with them, scheduler and nodes
	Names []string // those that run, as kube-controller-manager's --controllers has them; empty: all
}

// everything stands for all controllers that a list does not name.
const everything = "*"

// suffix ends the names of most controllers; users may leave it out.
const suffix = "-controller"

// controller is one of the embedded cluster's. docs/inside/protocol/controllers.json has the same, from the program.
type controller struct {
	names  []string // the first is its own, others stand for it
	needed bool     // it is part of every cluster with controllers
}

// controllers are those of the embedded cluster: names as kube-controller-manager has them.
func controllers() []controller {
	needed := []string{"serviceaccount", "serviceaccount-token", "root-ca-certificate-publisher root-ca-cert-publisher", "crd-removal"}
	others := []string{
		"clusterrole-aggregation", "namespace", "garbage-collector garbagecollector gc", "storage-version-migrator svm", "resourcequota",
		"deployment", "replicaset", "replicationcontroller", "statefulset", "daemonset", "job", "cronjob", "ttl-after-finished",
		"horizontal-pod-autoscaler horizontalpodautoscaling", "disruption", "pod-garbage-collector podgc", "endpoints endpoint",
		"endpointslice", "endpointslice-mirroring endpointslicemirroring", "service-cidr", "service-lb", "ingress-address",
		"persistentvolume-binder", "simulated-volume-provisioner", "persistentvolume-protection pv-protection",
		"persistentvolumeclaim-protection pvc-protection", "ephemeral-volume", "node-lifecycle nodelifecycle", "taint-eviction",
		"certificatesigningrequest-approving csrapproving", "certificatesigningrequest-signing csrsigning",
		"certificatesigningrequest-cleaner csrcleaner", "validatingadmissionpolicy-status",
	}
	var all []controller
	for i, text := range append(needed, others...) {
		names := strings.Fields(text)
		if names[0] != "simulated-volume-provisioner" {
			names = append([]string{names[0] + suffix}, names...)
		}
		all = append(all, controller{names, i < len(needed)})
	}
	return all
}

// ParseControllers reads true, false, or a list of controllers that are separated by commas: names or aliases of
// kube-controller-manager, with - in front to leave one out, and * for all others. The result has each controller's own
// name, in alphabetical order.
func ParseControllers(text string) (Controllers, error) {
	if run, err := strconv.ParseBool(text); err == nil {
		return Controllers{Run: run}, nil
	}
	return SelectControllers(strings.Split(text, ","))
}

// SelectControllers reads a list as [ParseControllers] does.
func SelectControllers(list []string) (Controllers, error) {
	c := Controllers{Run: true}
	for _, entry := range list {
		name, err := ownName(strings.TrimSpace(entry))
		if err != nil {
			return Controllers{}, err
		}
		c.Names = append(c.Names, name)
	}
	slices.Sort(c.Names)
	c.Names = slices.Compact(c.Names)
	rest := slices.Contains(c.Names, everything)
	for _, name := range c.Names {
		switch without, ok := strings.CutPrefix(name, "-"); {
		case ok && slices.Contains(c.Names, without):
			return Controllers{}, &mistake{fmt.Sprintf("%s is both selected and excluded", without), "keep one of them"}
		case ok && !rest:
			return Controllers{}, &mistake{fmt.Sprintf("%s excludes a controller, but no entry selects the others", name), "*," + name + " for all except this one"}
		}
	}
	if len(c.Names) == 1 && rest {
		c.Names = nil
	}
	return c, nil
}

// ownName is an entry of a list with the controller's own name.
func ownName(entry string) (string, error) {
	if entry == everything {
		return entry, nil
	}
	name, without := strings.CutPrefix(entry, "-")
	var known, short []string
	for _, c := range controllers() {
		switch {
		case !slices.Contains(c.names, name):
			known = append(known, c.names...)
			short = append(short, strings.TrimSuffix(c.names[0], suffix))
		case without && c.needed:
			return "", &mistake{fmt.Sprintf("the %s runs in every cluster with controllers", c.names[0]), "--controllers=false runs none"}
		case without:
			return "-" + c.names[0], nil
		default:
			return c.names[0], nil
		}
	}
	if nearest(name, known) == "" {
		slices.Sort(short)
		known = short
	}
	return "", &mistake{fmt.Sprintf("there is no controller %q", name), suggestion(name, known)}
}

// controllersOf returns those that s asks for, or nil.
func controllersOf(s Spec) *Controllers {
	if s.Controllers == nil && s.ControllerNames == nil {
		return nil
	}
	return &Controllers{Run: s.RunControllers(), Names: s.ControllerNames}
}

func (c *Controllers) set(s *Spec) {
	s.Controllers, s.ControllerNames = nil, nil
	if c != nil {
		s.Controllers, s.ControllerNames = &c.Run, c.Names
	}
}

// String is what [ParseControllers] reads.
func (c Controllers) String() string {
	if len(c.Names) == 0 || !c.Run {
		return strconv.FormatBool(c.Run)
	}
	return strings.Join(c.Names, ",")
}
