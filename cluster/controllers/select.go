package controllers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnselectable marks a selection that cannot be run.
var ErrUnselectable = errors.New("invalid selection of controllers")

// suffix ends the names of most controllers; users may leave it out.
const suffix = "-controller"

// aliases are further names: those that kube-controller-manager has from its earlier versions, and gc.
func aliases() map[string][]string {
	return map[string][]string{
		"certificatesigningrequest-approving-controller": {"csrapproving"},
		"certificatesigningrequest-cleaner-controller":   {"csrcleaner"},
		"certificatesigningrequest-signing-controller":   {"csrsigning"},
		"endpoints-controller":                           {"endpoint"},
		"endpointslice-mirroring-controller":             {"endpointslicemirroring"},
		"garbage-collector-controller":                   {"garbagecollector", "gc"},
		"horizontal-pod-autoscaler-controller":           {"horizontalpodautoscaling"},
		"node-lifecycle-controller":                      {"nodelifecycle"},
		"persistentvolume-protection-controller":         {"pv-protection"},
		"persistentvolumeclaim-protection-controller":    {"pvc-protection"},
		"pod-garbage-collector-controller":               {"podgc"},
		"root-ca-certificate-publisher-controller":       {"root-ca-cert-publisher"},
		"storage-version-migrator-controller":            {"svm"},
	}
}

// Names lists the names by which [Select] knows the controller, its own one first.
func (c Controller) Names() []string {
	names := []string{c.Name}
	if short, ok := strings.CutSuffix(c.Name, suffix); ok {
		names = append(names, short)
	}
	return append(names, aliases()[c.Name]...)
}

// Needed says that the controller is part of every selection. A cluster is ready, and resets are complete, when each
// namespace has its service account and the root certificate. The removal of CRDs only hastens what the API server
// does.
func (c Controller) Needed() bool {
	return slices.Contains([]string{
		"serviceaccount-controller", "serviceaccount-token-controller", "root-ca-certificate-publisher-controller", "crd-removal-controller",
	}, c.Name)
}

// Select returns the controllers that a list means as kube-controller-manager's --controllers does: a name or alias
// selects a controller, one with - in front leaves it out, * stands for all that no other entry names; of two entries
// for the same controller the first one holds. Those that are [Controller.Needed] are selected in any case. An empty
// list means all. Errors are [ErrUnselectable].
func Select(list []string) ([]Controller, error) {
	all := All()
	if len(list) == 0 {
		return all, nil
	}
	chosen := map[string]bool{} // by the controller's own name
	rest := false
	for _, entry := range list {
		if entry == "*" {
			rest = true
			continue
		}
		name, without := strings.CutPrefix(entry, "-")
		i := slices.IndexFunc(all, func(c Controller) bool { return slices.Contains(c.Names(), name) })
		switch {
		case i < 0:
			return nil, fmt.Errorf("%w: there is no controller %q", ErrUnselectable, name)
		case without && all[i].Needed():
			return nil, fmt.Errorf("%w: the %s runs in every cluster", ErrUnselectable, all[i].Name)
		}
		if _, decided := chosen[all[i].Name]; !decided {
			chosen[all[i].Name] = !without
		}
	}
	return slices.DeleteFunc(all, func(c Controller) bool {
		on, decided := chosen[c.Name]
		return !c.Needed() && !on && (decided || !rest)
	}), nil
}
