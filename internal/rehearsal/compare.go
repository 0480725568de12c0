package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/ship"
)

// compare finds what users have lost between the beginning and now.
func (u *upgrade) compare(phase Phase, after *snapshot) (findings []Finding) {
	for at, was := range u.before.resources {
		is := after.resources[at]
		before := was.any()
		if is == nil || is.any() == nil {
			if !after.unread(was.kind) {
				findings = append(findings, Finding{Phase: phase, Class: ObjectLost, Object: ship.NameOf(before), Text: "the object is gone", Fatal: true})
			}
			continue
		}
		findings = append(findings, u.compareResource(phase, was, is)...)
	}
	findings = append(findings, u.compareOthers(phase, after)...)
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Field, b.Field))
	})
	return findings
}

// unread reports whether objects of a kind could not be read in any version.
func (s *snapshot) unread(k kind) bool {
	return !slices.ContainsFunc(k.versions, func(v string) bool { return s.failed[k.Kind+" "+v] == nil })
}

// compareResource compares a custom resource in each version in which it can be read before and after.
func (u *upgrade) compareResource(phase Phase, was, is *customResource) (findings []Finding) {
	name := ship.NameOf(was.any())
	if before, after := was.any(), is.any(); before.GetUID() != after.GetUID() {
		return []Finding{{Phase: phase, Class: ObjectReplaced, Object: name, Text: "the object was deleted and made anew", Fatal: true}}
	}
	wanes := u.wanes[was.any().GetUID()]
	for _, version := range was.versions {
		before, after := was.views[version], is.views[version]
		if before == nil || after == nil {
			continue // the client says what cannot be read
		}
		for _, c := range changesBetween(contentOf(before), contentOf(after)) {
			if f, ok := judge(c, wanes); ok {
				f.Phase, f.Object = phase, name
				findings = mergeVersions(findings, f, version)
			}
		}
	}
	return append(findings, compareFinalizers(phase, name, was.any(), is.any())...)
}

// mergeVersions adds a finding about a field in a version. The same field has one finding for all its versions.
func mergeVersions(findings []Finding, f Finding, version string) []Finding {
	for i, known := range findings {
		if known.Class == f.Class && known.Field == f.Field && known.Text == f.Text {
			findings[i].Versions = append(findings[i].Versions, version)
			return findings
		}
	}
	f.Versions = []string{version}
	return append(findings, f)
}

// contentOf is what an object's users and operators have written.
func contentOf(o *unstructured.Unstructured) map[string]any {
	content := map[string]any{}
	for name, value := range o.Object {
		switch name {
		case "apiVersion", "kind", "metadata":
		default:
			content[name] = value
		}
	}
	metadata := map[string]any{}
	for _, name := range []string{"labels", "annotations"} {
		if value, ok, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", name); ok {
			metadata[name] = value
		}
	}
	content["metadata"] = metadata
	return content
}

// judge decides what a changed field of a custom resource means; ok is false if it means nothing. In the status only
// what is gone counts, as the operator goes on to write it; and of that not what has come and gone before.
func judge(c change, wanes map[string]bool) (f Finding, ok bool) {
	f = Finding{Field: c.path, Before: c.before, After: c.after, Fatal: true}
	switch root, _, _ := strings.Cut(c.path, "."); {
	case root == "status":
		f.Class, f.Text = StatusLost, "was "+text(c.before)+", "+now(c)
		return f, !wanes[c.path] && (isGone(c) || slices.Contains(good, c.path) && c.before == "True")
	case root == "metadata" && !c.lost():
		f.Class, f.Text = FieldChanged, "was "+text(c.before)+", "+now(c)
		return f, strings.HasPrefix(c.path, "metadata.labels")
	case c.lost():
		f.Class, f.Text = FieldLost, "was "+text(c.before)+", is gone"
		return f, true
	}
	f.Class, f.Text = FieldChanged, "was "+text(c.before)+", "+now(c)
	return f, !isTime(c.before) || !isTime(c.after)
}

// good are the conditions by which operators say that all is well. Others may be bad when they hold.
var good = []string{"status.conditions[Ready].status", "status.conditions[Available].status", "status.conditions[Healthy].status"}

// isGone reports whether a field of a status is gone or has become zero. Items of lists come and go, but conditions.
func isGone(c change) bool {
	return isZero(c.after) && !isZero(c.before) && !strings.Contains(strings.TrimPrefix(c.path, "status.conditions["), "[")
}

// now says what a field has become.
func now(c change) string {
	if c.lost() {
		return "is gone"
	}
	return "is " + cmp.Or(text(c.after), `""`)
}

// compareFinalizers finds finalizers that nothing will remove: a new revision that brings one of its own and leaves the
// old one has renamed it.
func compareFinalizers(phase Phase, name string, was, is *unstructured.Unstructured) (findings []Finding) {
	before, after := was.GetFinalizers(), is.GetFinalizers()
	added := slices.DeleteFunc(slices.Clone(after), func(f string) bool { return slices.Contains(before, f) })
	kept := slices.DeleteFunc(slices.Clone(before), func(f string) bool { return !slices.Contains(after, f) })
	if len(added) == 0 {
		return nil
	}
	f := Finding{Phase: phase, Class: FinalizerAdded, Object: name, Field: "metadata.finalizers", Before: before, After: after,
		Text: fmt.Sprintf("has the new finalizer %s", strings.Join(added, ", "))}
	if len(kept) > 0 {
		f.Class, f.Fatal = FinalizerRenamed, true
		f.Text += fmt.Sprintf(" beside %s, which the other revision has set: if it was renamed, nothing removes the old one, and the object cannot be deleted", strings.Join(kept, ", "))
	}
	return []Finding{f}
}
