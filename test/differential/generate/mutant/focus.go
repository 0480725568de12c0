package mutant

import (
	"fmt"
	"strings"
)

// typical are types of the kinds that markers ask for.
var typical = []typeExpression{
	{"string", stringKind}, {"int", integerKind}, {"[]string", stringsKind}, {"[]int32", integersKind}, {"[][]string", listsKind},
	{"[]map[string]string", mapsKind}, {"[]metav1.Condition", structsKind}, {"map[string]string", mapKind}, {"corev1.Taint", structKind},
}

// focused declares what the marker in focus needs, and returns lines for a struct
// that refers to it.
func (w *writer) focused() []string {
	d := w.focus
	switch {
	case d.Name == "k8s:enum" && d.Target == "type":
		w.put(d, stringKind, "")
		w.line("type Focus string\n\nconst FocusA Focus = \"a\"\n")
		return []string{"\tFocus Focus `json:\"focus,omitempty\"`"}
	case strings.HasSuffix(d.Name, "istMapKey"):
		w.source.Markers = append(w.source.Markers, d.Name+" "+d.Target)
		list := fmt.Sprintf("// +%s=map\n// +%s=type", strings.Replace(d.Name, "istMapKey", "istType", 1), d.Name)
		if d.Target == "type" {
			w.line("%s\ntype Focus []metav1.Condition\n", list)
			return []string{"\tFocus Focus `json:\"focus,omitempty\"`"}
		}
		return []string{list, "\tFocus []metav1.Condition `json:\"focus,omitempty\"`"}
	case d.Target == "type" && aboutKinds(d.Name), d.Target == "package":
		return nil
	}
	t := w.typicalOf(d.Name)
	if d.Target == "type" {
		w.put(d, t.kind, "")
		w.line("type Focus %s\n", t.text)
		return []string{"\tFocus Focus `json:\"focus,omitempty\"`"}
	}
	w.source.Markers = append(w.source.Markers, d.Name+" "+d.Target)
	return []string{"\t// +" + w.marker(d, t.kind), "\tFocus " + t.text + " `json:\"focus,omitempty\"`"}
}

// typicalOf chooses a type that a marker fits.
func (w *writer) typicalOf(name string) typeExpression {
	for range 100 {
		if t := typical[w.IntN(len(typical))]; fits(name, t.kind) {
			return t
		}
	}
	return typical[0]
}

// aboutKinds reports whether a marker of types is about kinds only.
func aboutKinds(name string) bool {
	for _, part := range []string{"subresource", "printcolumn", "kubebuilder:resource", "version", "metadata", "selectablefield"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
