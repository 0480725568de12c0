package ship

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/report"
)

// State is what an operator in a cluster is like.
type State struct {
	Workloads    []WorkloadState    `json:"workloads"`
	Leaders      []LeaderState      `json:"leaders"`
	Webhooks     []WebhookState     `json:"webhooks"`
	Certificates []CertificateState `json:"certificates"`
	Definitions  []DefinitionState  `json:"definitions"`
	// NotReady lists what is not ready, of the operator and then of the objects of its kinds; of each kind the first
	// ones.
	NotReady []report.Unready `json:"notReady"`
	Stuck    []StuckObject    `json:"stuck"`   // objects that wait for finalizers, of each kind the first ones
	Unknown  []string         `json:"unknown"` // what could not be read, and why
}

// WorkloadState is a workload of the operator.
type WorkloadState struct {
	Object    report.ObjectRef `json:"object"`
	Version   string           `json:"version,omitempty"` // of its label app.kubernetes.io/version, else the tag of its first image
	Images    []string         `json:"images"`
	Replicas  int64            `json:"replicas"`
	Ready     int64            `json:"readyReplicas"`
	Simulated bool             `json:"simulated,omitempty"` // its pods run no container
}

// LeaderState is a Lease that a pod of the operator holds.
type LeaderState struct {
	Lease   report.ObjectRef `json:"lease"`
	Holder  string           `json:"holder"` // a pod
	Renewed time.Time        `json:"renewed"`
	Expired bool             `json:"expired"`
}

// StuckObject is an object that is being deleted and waits for finalizers.
type StuckObject struct {
	Object     report.ObjectRef `json:"object"`
	Since      time.Time        `json:"since"`
	Finalizers []string         `json:"finalizers"`
}

// versionLabel has the version of what an object belongs to.
const versionLabel = "app.kubernetes.io/version"

var leaseResource = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}

// State looks at the objects of an operator, as the cluster has them, and at the objects of its kinds. It writes
// nothing. What the user may not read is left out and listed.
func (c *Cluster) State(ctx context.Context, members []*unstructured.Unstructured) (State, error) {
	look := &inspection{cluster: c, now: time.Now(), answers: map[called]*silence{}, state: State{
		Workloads: []WorkloadState{}, Leaders: []LeaderState{}, Webhooks: []WebhookState{}, Certificates: []CertificateState{},
		Definitions: []DefinitionState{}, NotReady: []report.Unready{}, Stuck: []StuckObject{}, Unknown: []string{},
	}} // for programs, an empty list is a list
	for _, member := range members {
		if runsPods(member) {
			look.workload(ctx, member)
		}
	}
	look.leaders(ctx)
	for _, member := range members {
		look.webhooks(ctx, member)
		look.certificate(member)
	}
	for _, member := range members {
		if kindOf(member) == crdKind {
			look.definition(ctx, member)
		}
	}
	if err := ctx.Err(); err != nil {
		return State{}, c.explain(ctx, err)
	}
	return look.state, nil
}

// inspection is one look at an operator.
type inspection struct {
	cluster *Cluster
	now     time.Time
	state   State
	live    []*unstructured.Unstructured // workloads
	answers map[called]*silence          // of Services that were asked; nil for those that answer
}

// unknown notes what could not be read.
func (l *inspection) unknown(what string, err error) {
	text := what + ": " + err.Error()
	if apierrors.IsForbidden(err) {
		text = what + ": the user of the kubeconfig may not read it"
	}
	if !slices.Contains(l.state.Unknown, text) {
		l.state.Unknown = append(l.state.Unknown, text)
	}
}

func (l *inspection) workload(ctx context.Context, live *unstructured.Unstructured) {
	pod, _, _ := unstructured.NestedMap(live.Object, "spec", "template", "spec")
	w := WorkloadState{Object: *refOf(live), Version: live.GetLabels()[versionLabel], Images: podImages(live.Object, []string{"spec", "template", "spec"})}
	if w.Version == "" && len(w.Images) > 0 {
		_, w.Version, _ = reference.Split(w.Images[0])
	}
	w.Replicas, w.Ready = readyReplicas(live)
	w.Simulated = l.cluster.simulatedPod(ctx, live) != nil
	l.live = append(l.live, live)
	l.state.Workloads = append(l.state.Workloads, w)
	if now := unready(live); now != nil {
		l.explain(ctx, live, now)
	}
	l.mounted(ctx, live.GetNamespace(), pod)
}

// readyReplicas is how many replicas a workload wants, and has ready.
func readyReplicas(live *unstructured.Unstructured) (wanted, ready int64) {
	field := func(path ...string) int64 {
		n, _, _ := unstructured.NestedInt64(live.Object, path...)
		return n
	}
	if kindOf(live) == daemonSetKind {
		return field("status", "desiredNumberScheduled"), field("status", "numberReady")
	}
	return replicasOf(live), field("status", "readyReplicas")
}

// unready returns the status of an object that is not ready, else nil.
func unready(live *unstructured.Unstructured) *status.Result {
	if now, err := status.Compute(live); err == nil && now.Status != status.CurrentStatus {
		return now
	}
	return nil
}

// explain notes why an object is not ready.
func (l *inspection) explain(ctx context.Context, live *unstructured.Unstructured, now *status.Result) {
	reasons := l.cluster.diagnose(ctx, live).unready
	if len(reasons) == 0 {
		reasons = []report.Unready{{Object: *refOf(live), Reason: string(now.Status), Message: brief(now.Message)}}
	}
	l.state.NotReady = append(l.state.NotReady, reasons...)
}

// leaders finds the Leases that pods of the workloads hold: their names are decided in the operator's code.
func (l *inspection) leaders(ctx context.Context) {
	seen := map[string]bool{}
	for _, workload := range l.live {
		namespace := workload.GetNamespace()
		if seen[namespace] {
			continue
		}
		seen[namespace] = true
		leases, err := l.cluster.quiet.Resource(leaseResource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			l.unknown("the leader in namespace "+namespace, err)
			continue
		}
		for i := range leases.Items {
			l.lease(&leases.Items[i])
		}
	}
}

// lease notes a Lease if a pod of a workload holds it: holders are called like their pod, with a suffix.
func (l *inspection) lease(lease *unstructured.Unstructured) {
	identity, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	holder, _, _ := strings.Cut(identity, "_")
	if holder == "" || !slices.ContainsFunc(l.live, func(w *unstructured.Unstructured) bool {
		return w.GetNamespace() == lease.GetNamespace() && strings.HasPrefix(holder, w.GetName()+"-")
	}) {
		return
	}
	text, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	renewed, _ := time.Parse(time.RFC3339, text)
	l.state.Leaders = append(l.state.Leaders, LeaderState{
		Lease: *refOf(lease), Holder: holder, Renewed: renewed, Expired: renewed.Add(time.Duration(seconds) * time.Second).Before(l.now),
	})
}

// deletionDelay is how long a deletion may take before an object counts as stuck.
const deletionDelay = 30 * time.Second

// mostListed bounds how many objects of a kind are listed; all are counted.
const mostListed = 20

// object looks at an object of one of the operator's kinds, and counts it.
func (l *inspection) object(ctx context.Context, object *unstructured.Unstructured, of *DefinitionState) {
	of.Objects++
	if since := object.GetDeletionTimestamp(); since != nil {
		if l.now.Sub(since.Time) > deletionDelay && len(object.GetFinalizers()) > 0 {
			if of.Stuck++; of.Stuck <= mostListed {
				l.state.Stuck = append(l.state.Stuck, StuckObject{*refOf(object), since.Time, object.GetFinalizers()})
			}
		}
		return
	}
	now := unready(object)
	if now == nil {
		return
	}
	if of.NotReady++; of.NotReady <= mostListed {
		l.explain(ctx, object, now)
	}
}

// Ready reports whether nothing of the operator is known not to be ready, and no object of its kinds.
func (s State) Ready() bool { return len(s.NotReady) == 0 && len(s.Stuck) == 0 }

// lacksKind reports whether the cluster does not serve the kind of an object that was asked for.
func lacksKind(err error) bool {
	_, unserved := errors.AsType[errNoKind](err)
	return unserved
}

// Live returns objects as the cluster has them, without those that it does not have.
func (c *Cluster) Live(ctx context.Context, objects []*unstructured.Unstructured) (live []*unstructured.Unstructured, err error) {
	for _, object := range objects {
		found, err := c.live(ctx, object)
		switch {
		case err == nil:
			live = append(live, found)
		case !apierrors.IsNotFound(err) && !lacksKind(err):
			return nil, c.explainObject(ctx, object, err)
		}
	}
	return live, nil
}
