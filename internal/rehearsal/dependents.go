package rehearsal

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/ship"
)

// transient are kinds whose objects Kubernetes itself makes and removes, and of which Jobs end.
var transient = []schema.GroupKind{
	{Kind: "Pod"}, {Group: "batch", Kind: "Job"}, {Group: "apps", Kind: "ReplicaSet"}, {Group: "apps", Kind: "ControllerRevision"},
	{Kind: "Endpoints"}, {Group: "discovery.k8s.io", Kind: "EndpointSlice"}, {Group: "coordination.k8s.io", Kind: "Lease"},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}, {Group: "storage.k8s.io", Kind: "VolumeAttachment"},
}

var (
	podKind   = schema.GroupKind{Kind: "Pod"}
	sliceKind = schema.GroupKind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}
)

// compareOthers compares what the operator has made for its users.
func (u *upgrade) compareOthers(phase Phase, after *snapshot) (findings []Finding) {
	before := u.before.dependents(u.bare)
	for at, was := range before {
		is := after.others[at]
		name := ship.NameOf(was)
		switch {
		case slices.Contains(transient, at.GroupKind):
		case is == nil:
			successor := successorOf(was, after.dependents(u.bare), before)
			findings = append(findings, Finding{Phase: phase, Class: ObjectLost, Object: name, Text: "the object is gone" + ofOwner(was) + successor, Fatal: successor == ""})
		case is.GetUID() != was.GetUID():
			findings = append(findings, Finding{Phase: phase, Class: ObjectReplaced, Object: name, Text: "the object was deleted and made anew" + ofOwner(was), Fatal: true})
		default:
			findings = append(findings, compareDependent(phase, was, is)...)
		}
	}
	findings = append(findings, comparePods(phase, before, after.others)...)
	findings = append(findings, compareOwned(phase, before, after.dependents(u.bare))...)
	findings = append(findings, compareEndpoints(phase, before, after.others)...)
	return append(findings, u.compareLocks(phase, after)...)
}

// mostFields is how many fields a finding names.
const mostFields = 5

// compareDependent finds what an object lacks that the operator has made for a user. Whether that is meant, its author
// knows: it is no problem by itself.
func compareDependent(phase Phase, was, is *unstructured.Unstructured) []Finding {
	var lost []string
	for _, c := range chosenByUsers(changesBetween(was.Object, is.Object)) {
		if c.lost() {
			lost = append(lost, c.path)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	text := "it has lost " + strings.Join(lost[:min(len(lost), mostFields)], ", ")
	if len(lost) > mostFields {
		text += fmt.Sprintf(" and %d more", len(lost)-mostFields)
	}
	return []Finding{{Phase: phase, Class: DependentChanged, Object: ship.NameOf(was), Text: text + ofOwner(was)}}
}

// successorOf names a new object of the same kind and owner as one that is gone: names may follow from content.
func successorOf(gone *unstructured.Unstructured, now, before map[identity]*unstructured.Unstructured) string {
	owner := ownerOf(gone)
	for at, o := range now {
		if at.GroupKind == identityOf(gone).GroupKind && owner != "" && ownerOf(o) == owner && before[at] == nil {
			return "; " + ship.NameOf(o) + " is there instead"
		}
	}
	return ""
}

func ownerOf(o *unstructured.Unstructured) types.UID {
	if owners := o.GetOwnerReferences(); len(owners) > 0 {
		return owners[0].UID
	}
	return ""
}

// ofOwner names the owner of an object.
func ofOwner(o *unstructured.Unstructured) string {
	if owners := o.GetOwnerReferences(); len(owners) > 0 {
		return ", of " + strings.ToLower(owners[0].Kind) + "/" + owners[0].Name
	}
	return ""
}

// workloadOf is the workload that a pod belongs to, for people: that of a ReplicaSet is its Deployment.
func workloadOf(pod *unstructured.Unstructured, all map[identity]*unstructured.Unstructured) (name string, job bool) {
	owners := pod.GetOwnerReferences()
	if len(owners) == 0 {
		return ship.NameOf(pod), false
	}
	owner := owners[0]
	at := identity{schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}, types.NamespacedName{Namespace: pod.GetNamespace(), Name: owner.Name}}
	if set := all[at]; owner.Kind == "ReplicaSet" && set != nil && len(set.GetOwnerReferences()) > 0 {
		owner = set.GetOwnerReferences()[0]
	}
	return strings.ToLower(owner.Kind) + "/" + pod.GetNamespace() + "/" + owner.Name, owner.Kind == "Job"
}

// comparePods finds pods of users that were replaced, or whose containers were started again. Pods of Jobs end by
// themselves.
func comparePods(phase Phase, before, after map[identity]*unstructured.Unstructured) (findings []Finding) {
	replaced := map[string]int{}
	for at, was := range before {
		workload, job := workloadOf(was, before)
		if at.GroupKind != podKind || job {
			continue
		}
		is := after[at]
		if is == nil || is.GetUID() != was.GetUID() {
			replaced[workload]++
			continue
		}
		if more := restarts(is) - restarts(was); more > 0 {
			findings = append(findings, Finding{Phase: phase, Class: PodRestarted, Object: ship.NameOf(was), Text: fmt.Sprintf("containers were started again %d times", more)})
		}
	}
	for workload, n := range replaced {
		findings = append(findings, Finding{Phase: phase, Class: PodsReplaced, Object: workload, Text: fmt.Sprintf("%d of its pods were replaced%s", n, templateChange(workload, before, after))})
	}
	return findings
}

// restarts is how often containers of a pod were started again.
func restarts(pod *unstructured.Unstructured) (n int64) {
	list, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
	for _, item := range list {
		status, _ := item.(map[string]any)
		count, _, _ := unstructured.NestedInt64(status, "restartCount")
		n += count
	}
	return n
}

// templateChange says how the template of a workload's pods has changed.
func templateChange(workload string, before, after map[identity]*unstructured.Unstructured) string {
	for at, was := range before {
		if ship.NameOf(was) != workload || after[at] == nil {
			continue
		}
		template := func(o *unstructured.Unstructured) map[string]any {
			t, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
			return t
		}
		var fields []string
		add := func(c change) {
			if !slices.Contains(fields, c.path) {
				fields = append(fields, c.path)
			}
		}
		for _, c := range changesBetween(template(was), template(after[at])) {
			add(c)
		}
		for _, c := range changesBetween(template(after[at]), template(was)) {
			add(c)
		}
		if len(fields) > 0 {
			slices.Sort(fields)
			return ", since its template has changed: " + strings.Join(fields, ", ")
		}
	}
	return ", although its template has not changed"
}

// compareOwned finds owners that have more objects of a kind than before, beside those of before: a new revision that
// does not recognise them makes others.
func compareOwned(phase Phase, before, after map[identity]*unstructured.Unstructured) (findings []Finding) {
	type group struct {
		owner types.UID
		kind  schema.GroupKind
	}
	owned := func(objects map[identity]*unstructured.Unstructured) map[group][]string {
		groups := map[group][]string{}
		for at, o := range objects {
			if slices.Contains(transient, at.GroupKind) {
				continue
			}
			for _, owner := range o.GetOwnerReferences() {
				g := group{owner.UID, at.GroupKind}
				groups[g] = append(groups[g], ship.NameOf(o))
			}
		}
		return groups
	}
	was := owned(before)
	for g, names := range owned(after) {
		added := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(was[g], n) })
		if len(was[g]) == 0 || len(added) == 0 {
			continue
		}
		slices.Sort(added)
		slices.Sort(was[g])
		findings = append(findings, Finding{Phase: phase, Class: Doubled, Object: added[0],
			Text: fmt.Sprintf("made beside %s, of the same owner: does the new revision recognise what the old one made?", strings.Join(was[g], ", "))})
	}
	return findings
}

// compareEndpoints finds Services that have lost all their endpoints.
func compareEndpoints(phase Phase, before, after map[identity]*unstructured.Unstructured) (findings []Finding) {
	was, is := readyEndpoints(before), readyEndpoints(after)
	for service, n := range was {
		if n > 0 && is[service] == 0 {
			findings = append(findings, Finding{Phase: phase, Class: NoEndpoints, Object: "service/" + service, Text: "no pod answers for it any more: do its selector and the pods' labels agree?", Fatal: true})
		}
	}
	return findings
}

// readyEndpoints counts the ready endpoints of Services.
func readyEndpoints(objects map[identity]*unstructured.Unstructured) map[string]int {
	ready := map[string]int{}
	for at, o := range objects {
		service := o.GetLabels()["kubernetes.io/service-name"]
		if at.GroupKind != sliceKind || service == "" {
			continue
		}
		list, _, _ := unstructured.NestedSlice(o.Object, "endpoints")
		for _, item := range list {
			endpoint, _ := item.(map[string]any)
			if is, ok, _ := unstructured.NestedBool(endpoint, "conditions", "ready"); is || !ok {
				ready[at.Namespace+"/"+service]++
			}
		}
	}
	return ready
}
