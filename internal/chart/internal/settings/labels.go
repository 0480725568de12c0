package settings

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// Labels of Helm's conventions, which the chart sets in every object.
const (
	instance  = "app.kubernetes.io/instance"
	managedBy = "app.kubernetes.io/managed-by"
	version   = "app.kubernetes.io/version"
	chart     = "helm.sh/chart"
)

// release is the label that distinguishes the pods of one release from those of another.
var release = tree.Field{Key: instance, Value: tree.Action("{{ .Release.Name | quote }}")}

// label adds the chart's labels to every object, and the release to pods and to what selects them.
func (t *extractor) label() {
	pods, objects := t.podLabels(), t.objectLabels()
	for _, d := range t.model.Documents {
		metadata := d.Object.Ensure("metadata")
		labels := metadata.Ensure("labels")
		for _, key := range []string{instance, managedBy, version, chart} {
			labels.Remove(key)
		}
		labels.Fields = slices.Insert(labels.Fields, 0, tree.Field{Value: tree.YAML(t.include("labels"))})
		if d.Group == "monitoring.coreos.com" {
			addRelease(d.Object.At("spec", "selector", "matchLabels"), objects)
			if selector := d.Object.At("spec", "selector", "matchLabels"); selector.Find(managedBy) != nil {
				selector.Set(tree.Field{Key: managedBy, Value: tree.Action("{{ .Release.Service }}")})
			}
			continue
		}
		for _, selector := range selectors(d) {
			addRelease(selector, pods)
		}
		if template := template(d); template != nil {
			template.Ensure("metadata").Ensure("labels").Set(release)
		}
	}
}

// addRelease adds [release] to a selector that selects one of the sets of labels.
func addRelease(selector *tree.Map, sets []*tree.Map) {
	if selector == nil || len(selector.Fields) == 0 {
		return
	}
	if slices.ContainsFunc(sets, func(labels *tree.Map) bool { return selects(selector, labels) }) {
		selector.Set(release)
	}
}

// selects reports whether labels have all that a selector requires, apart from [instance].
func selects(selector, labels *tree.Map) bool {
	return !slices.ContainsFunc(selector.Fields, func(f tree.Field) bool {
		return f.Key != instance && (labels.Find(f.Key) == nil || labels.Text(f.Key) != selector.Text(f.Key))
	})
}

// template returns the pod template of a workload, or nil.
func template(d model.Document) *tree.Map {
	switch {
	case d.Group == "apps" && d.Kind != "ControllerRevision":
		return d.Object.At("spec", "template")
	case d.Of("batch", "CronJob"):
		return d.Object.At("spec", "jobTemplate", "spec", "template")
	case d.Of("batch", "Job"):
		return d.Object.At("spec", "template")
	}
	return nil
}

// podLabels returns the labels of the pods in the chart.
func (t *extractor) podLabels() []*tree.Map {
	var sets []*tree.Map
	for _, d := range t.model.Documents {
		if labels := template(d).At("metadata", "labels"); labels != nil {
			sets = append(sets, copied(labels))
		}
	}
	return sets
}

func (t *extractor) objectLabels() []*tree.Map {
	var sets []*tree.Map
	for _, d := range t.model.Documents {
		if labels := d.Object.At("metadata", "labels"); labels != nil {
			sets = append(sets, copied(labels))
		}
	}
	return sets
}

func copied(m *tree.Map) *tree.Map { return &tree.Map{Fields: slices.Clone(m.Fields)} }

// selectors returns the labels by which an object selects pods.
func selectors(d model.Document) []*tree.Map {
	spec := d.Object.At("spec")
	switch {
	case d.Of("", "Service"):
		return []*tree.Map{spec.At("selector")}
	case d.Group == "apps", d.Of("policy", "PodDisruptionBudget"):
		of := []*tree.Map{spec.At("selector", "matchLabels")}
		for _, spread := range spec.At("template", "spec").List("topologySpreadConstraints").Maps() {
			of = append(of, spread.At("labelSelector", "matchLabels"))
		}
		return of
	case d.Of("networking.k8s.io", "NetworkPolicy"):
		return []*tree.Map{spec.At("podSelector", "matchLabels")}
	}
	return nil
}
