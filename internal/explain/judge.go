package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

const (
	// usualStart is how long a container may take until it is ready without anything being wrong.
	usualStart = time.Minute
	// usualDeletion is how long an operator may take for what a finalizer holds.
	usualDeletion = 15 * time.Second
	// usualWork is how long a controller may be at work on an object.
	usualWork = 5 * time.Minute
	// current is how long ago a warning may be that is believed to be still true: the kubelet repeats what goes on
	// failing within some two minutes.
	current = 150 * time.Second
)

// judge finds the state of each member, and what is behind it.
func (s *scene) judge(ctx context.Context) {
	top := s.members[0]
	if s.served.Resource == "" {
		s.undefined()
		return
	}
	diagnosed := 0
	for _, m := range s.members {
		switch {
		case m.state == Missing:
		case m.object.GetDeletionTimestamp() != nil:
			s.deletion(ctx, m)
		case m.kind() == podKind:
			if s.pod(ctx, m, diagnosed < mostDiagnosed) {
				diagnosed++
			}
		default:
			s.conditions(m)
			s.builtin(ctx, m)
		}
		s.warned(m)
	}
	s.forgive()
	s.spread()
	if top.state == Missing {
		s.missing(ctx, top)
	} else {
		s.owners(ctx, top)
		s.refer(ctx)
	}
	s.operator(ctx, top)
}

// forgive drops what is wrong with members that their owner does not need any more: those of an older template, those
// that are being deleted, and those that a finished Job or a workload with all of its replicas has left over. A
// container that crashes again and again may be ready for moments, so it stays.
func (s *scene) forgive() {
	for _, m := range s.members[1:] {
		for of := m; of.above != nil; of = of.above {
			done := of.above.state == Ready && isBuiltin(of.above) && !slices.ContainsFunc(m.causes, func(c Cause) bool { return c.Reason == crashLoop })
			if done || isOld(of) || m.state == Deleting || m.state == Stuck && isBuiltin(of.above) {
				m.causes = nil
				if m.state == NotReady || m.state == InProgress {
					m.state, m.text = Ready, "left over"
				}
				break
			}
		}
	}
}

// isBuiltin reports whether the status of an object's kind says whether it needs more.
func isBuiltin(m *member) bool {
	group := m.kind().Group
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// isOld reports whether a ReplicaSet is of an older template of its Deployment.
func isOld(m *member) bool {
	const revision = "deployment.kubernetes.io/revision"
	return m.kind().Kind == "ReplicaSet" && m.above.kind().Kind == "Deployment" && m.object.GetAnnotations()[revision] != m.above.object.GetAnnotations()[revision]
}

// spread has what is in progress be not ready if something below it is not.
func (s *scene) spread() {
	for _, below := range slices.Backward(s.members) {
		if above := below.above; above != nil && below.state == NotReady && above.state == InProgress {
			above.state = NotReady
		}
	}
}

// mostDiagnosed bounds of how many pods the logs are read: siblings have the same template and, mostly, the same
// trouble.
const mostDiagnosed = 3

// condition is an entry of status.conditions.
type condition struct {
	kind, status, reason, message string
	since                         time.Time
}

func conditionsOf(object *unstructured.Unstructured) (all []condition) {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range list {
		fields, _ := item.(map[string]any)
		text := func(name string) string { value, _ := fields[name].(string); return value }
		since, _ := time.Parse(time.RFC3339, text("lastTransitionTime"))
		all = append(all, condition{text("type"), text("status"), text("reason"), text("message"), since})
	}
	return all
}

// find returns the first condition of one of the types.
func find(all []condition, kinds ...string) (condition, bool) {
	at := slices.IndexFunc(all, func(c condition) bool { return slices.Contains(kinds, c.kind) })
	if at < 0 {
		return condition{}, false
	}
	return all[at], true
}

// text is what a condition says.
func (c condition) text() string {
	return cmp.Or(c.message, "condition "+c.kind+" is "+c.status)
}

// conditions judges an object by its status, as kstatus does:
// https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md.
func (s *scene) conditions(m *member) {
	all := conditionsOf(m.object)
	if ready, is := find(all, "Ready", "Available"); is && ready.status == "True" {
		m.says = !isWorkload(m) // what it says of its pods may have been a moment ago
	}
	now, err := status.Compute(m.object)
	if err != nil {
		s.unread(m.ref().Name, err)
		return
	}
	m.text = plainly(now.Message)
	switch now.Status {
	case status.CurrentStatus:
		m.state, m.text = Ready, ""
		if c, is := find(all, "Ready", "Available", "Succeeded"); is && c.status == "False" && !isWorkload(m) {
			s.unwell(m, c)
		}
	case status.FailedStatus:
		m.state, m.failed = NotReady, true
		failed := condition{reason: "Failed", message: m.text}
		if stalled, is := find(all, "Stalled", "Failed"); is && stalled.status == "True" {
			failed = stalled
		}
		m.because(symptom, cmp.Or(failed.reason, failed.kind), "%s", plainly(failed.text()))
	default:
		m.state = InProgress
		if ready, is := find(all, "Ready"); is && ready.status != "True" && !isWorkload(m) {
			s.unwell(m, ready)
		}
	}
	s.unobserved(m)
}

// unwell judges an object whose controller says that it is not ready: it may be at work on it.
func (s *scene) unwell(m *member, c condition) {
	m.text = plainly(strings.Trim(c.reason+": "+c.text(), ": "))
	if m.state = InProgress; working(c.reason) && s.now.Sub(c.since) < usualWork {
		return
	}
	m.state = NotReady
	m.because(symptom, cmp.Or(c.reason, "NotReady"), "%s", plainly(c.text()))
}

// working reports whether a reason is one of those that say that something goes on.
func working(reason string) bool {
	for _, word := range []string{"Progress", "Creat", "Pending", "Wait", "Reconcil", "Provision", "Start", "Initial", "Install", "Updat", "Scal", "Deploy", "Roll"} {
		if strings.Contains(reason, word) && !strings.Contains(reason, "Fail") && !strings.Contains(reason, "Error") && !strings.Contains(reason, "Exceed") {
			return true
		}
	}
	return false
}

// unobserved finds objects that their controller has not looked at in their newest generation.
func (s *scene) unobserved(m *member) {
	if m.depth > 0 || s.definition == nil || !hasStatus(s.definition, s.served.Version) {
		return
	}
	written := m.object.GetCreationTimestamp().Time
	for _, entry := range m.object.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(written) {
			written = entry.Time.Time
		}
	}
	observed, has, _ := unstructured.NestedInt64(m.object.Object, "status", "observedGeneration")
	filled, _, _ := unstructured.NestedMap(m.object.Object, "status")
	switch {
	case has && observed < m.object.GetGeneration():
		m.text = fmt.Sprintf("its status is about generation %d, and it is in generation %d", observed, m.object.GetGeneration())
	case len(filled) == 0:
		m.text = "no controller has written its status"
	default:
		return
	}
	m.unseen = true
	if m.state = InProgress; s.now.Sub(written) > usualWork/10 {
		m.because(symptom, "Unobserved", "%s, %s after it was written", m.text, s.now.Sub(written).Round(time.Second))
	}
}

// hasStatus reports whether a kind has a status with fields, in a version.
func hasStatus(definition *unstructured.Unstructured, version string) bool {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, item := range versions {
		v, _ := item.(map[string]any)
		if v["name"] != version {
			continue
		}
		_, is, _ := unstructured.NestedMap(v, "subresources", "status")
		fields, _, _ := unstructured.NestedMap(v, "schema", "openAPIV3Schema", "properties", "status", "properties")
		return is && len(fields) > 0
	}
	return false
}

// warned adds the newest warning about an object that is not ready, as far as nothing else is known.
func (s *scene) warned(m *member) {
	events := s.warnings[m.object.GetUID()]
	if m.state == Ready || m.object.GetUID() == "" || slices.ContainsFunc(m.causes, func(c Cause) bool { return c.weight > symptom }) {
		return
	}
	for _, e := range events {
		if s.now.Sub(newest(e)) > current || slices.Contains(usualWarnings, e.Reason) {
			continue
		}
		w := symptom
		if e.Reason == "FailedCreate" { // of the controllers of workloads: the API server has refused what they make
			w = concrete
		}
		s.advise(m.because(w, e.Reason, "%s", plainly(e.Message)))
		if w == concrete && m.state == InProgress {
			m.state = NotReady
		}
		return
	}
}

// usualWarnings come also where all is well after a moment, or repeat what is found elsewhere.
var usualWarnings = []string{"BackOff", "Unhealthy", "FailedScheduling", "Failed", "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "FailedKillPod"}

// advise adds the command that shows more of a cause.
func (s *scene) advise(c *Cause) {
	if strings.Contains(c.Message, "exceeded quota") {
		c.Reason = "QuotaExceeded"
		c.Next = command("slipway kubectl describe resourcequota -n %s", c.Object.Namespace)
	}
}

// eventOf returns the newest warning of a reason about an object, if it is current.
func (s *scene) eventOf(m *member, reasons ...string) (corev1.Event, bool) {
	for _, e := range s.warnings[m.object.GetUID()] {
		if slices.Contains(reasons, e.Reason) && s.now.Sub(newest(e)) < current {
			return e, true
		}
	}
	return corev1.Event{}, false
}

// plainly is a message on one line, of bounded length.
func plainly(text string) string {
	const longest = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// age is how long an object has been there.
func (s *scene) age(since metav1.Time) time.Duration { return s.now.Sub(since.Time).Round(time.Second) }
