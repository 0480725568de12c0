package simnode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// workers bounds the writes that are under way for all nodes' pods together.
const workers = 8

var errNotSynced = errors.New("the list of pods did not arrive")

// pods moves the pods of all simulated nodes through their stages.
type pods struct {
	client   kubernetes.Interface
	informer cache.SharedIndexInformer
	queue    workqueue.TypedRateLimitingInterface[string]
	log      *slog.Logger
	habits   stage.Habits
	why      func(context.Context, *corev1.Pod) string
	sources  *sources

	hosts map[string]*host // by node name

	mu    sync.Mutex      // guards the hosts' addresses and what follows
	lives map[string]life // by pod key
}

type host struct {
	ip        string
	addresses *addresses
	admission *admission

	busy   sync.RWMutex // held for reading while one of the host's pods is worked on
	frozen bool
}

// life is what the nodes know of a pod. The status is more precise than the API server's, which keeps whole seconds.
type life struct {
	uid      types.UID
	node     string
	status   corev1.PodStatus
	fresh    bool            // it had not begun when it was seen first, and no Event says yet that it is simulated
	refused  []stage.Event   // why its node did not take it
	reported map[notice]bool // what was reported of it
}

func newPods(client kubernetes.Interface, options Options) *pods {
	bound := func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "").String()
	}
	p := &pods{
		client:   client,
		informer: coreinformers.NewFilteredPodInformer(client, metav1.NamespaceAll, 0, podIndexers(), bound),
		queue:    workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		log:      options.Log,
		habits:   options.Habits,
		why:      options.Why,
		hosts:    map[string]*host{},
		lives:    map[string]life{},
	}
	p.sources = newSources(client, options.Images, p.wake)
	// Neither call fails on an informer that has not started.
	_ = p.informer.SetTransform(stripManagedFields)
	_, _ = p.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    p.changed,
		UpdateFunc: func(_, pod any) { p.changed(pod) },
		DeleteFunc: p.changed,
	})
	return p
}

// stripManagedFields saves the memory of what nobody reads here.
func stripManagedFields(o any) (any, error) {
	if pod, ok := o.(*corev1.Pod); ok {
		pod.ManagedFields = nil
	}
	return o, nil
}

func (p *pods) changed(pod any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(pod); err == nil {
		p.queue.Add(key)
	}
}

// wake has the pods looked at that an index has under a key.
func (p *pods) wake(index, key string) {
	pods, err := p.informer.GetIndexer().ByIndex(index, key)
	if err != nil {
		return // there is no such index
	}
	for _, pod := range pods {
		p.changed(pod)
	}
}

// follow hears of what pods refer to until ctx ends.
func (p *pods) follow(ctx context.Context) {
	var group sync.WaitGroup
	for _, informer := range append(p.sources.all(), p.informer) {
		group.Go(func() { informer.RunWithContext(ctx) })
	}
	if p.sources.images != nil {
		p.sources.images.Follow(ctx, p.wakeForImages)
	}
	group.Wait()
}

// wakeForImages has the pods looked at that wait for an image.
func (p *pods) wakeForImages() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, known := range p.lives {
		if stage.AwaitsImage(&known.status) {
			p.queue.Add(key)
		}
	}
}

// wait returns when all pods that exist are known.
func (p *pods) wait(ctx context.Context) error {
	if !cache.WaitForCacheSync(ctx.Done(), p.informer.HasSynced) {
		return errors.Join(errNotSynced, ctx.Err())
	}
	return nil
}

// settle takes charge of the nodes' pods; it comes before run. A Node is as current as the API server's if it is not to
// be a cached one.
func (p *pods) settle(nodes []registered, current func(ctx context.Context, name string, cached bool) (*corev1.Node, error)) {
	for _, n := range nodes {
		name := n.spec.Name
		show := func(ctx context.Context, cached bool) (*corev1.Node, error) { return current(ctx, name, cached) }
		p.hosts[name] = &host{
			ip: node.Address(n.number).String(), addresses: newAddresses(node.PodRange(n.number)),
			admission: newAdmission(show, func() []*corev1.Pod { return p.on(name) }),
		}
		for _, pod := range p.on(name) {
			p.hosts[name].takeOver(pod)
		}
	}
}

// on are the pods that name a node.
func (p *pods) on(node string) []*corev1.Pod {
	objects, err := p.informer.GetIndexer().ByIndex(byNode, node)
	if err != nil {
		return nil // there is such an index
	}
	pods := make([]*corev1.Pod, 0, len(objects))
	for _, o := range objects {
		if pod, ok := o.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	return pods
}

// takeOver keeps new pods from getting what a pod of an earlier run has.
func (h *host) takeOver(pod *corev1.Pod) {
	if stage.Terminal(pod.Status.Phase) {
		return
	}
	h.addresses.reserve(pod.UID, pod.Status.PodIP)
	if pod.Status.StartTime != nil {
		h.admission.keep(pod)
	}
}

// run works until ctx ends.
func (p *pods) run(ctx context.Context) {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for p.work(ctx) {
			}
		})
	}
	<-ctx.Done()
	p.queue.ShutDown()
	group.Wait()
}

// freeze ends the work on a node's pods: when it returns, nothing is written for them any more.
func (p *pods) freeze(node string) {
	h := p.hosts[node]
	h.busy.Lock()
	defer h.busy.Unlock()
	h.frozen = true
}

// thaw takes it up again.
func (p *pods) thaw(node string) {
	h := p.hosts[node]
	h.busy.Lock()
	h.frozen = false
	h.busy.Unlock()
	p.wake(byNode, node)
}

func (p *pods) work(ctx context.Context) bool {
	key, shutdown := p.queue.Get()
	if shutdown {
		return false
	}
	defer p.queue.Done(key)
	wake, err := p.sync(ctx, key)
	if err != nil {
		if ctx.Err() == nil {
			p.log.Warn("pod not updated, will retry", "pod", key, "error", err)
		}
		p.queue.AddRateLimited(key)
		return true
	}
	p.queue.Forget(key)
	if !wake.IsZero() {
		p.queue.AddAfter(key, time.Until(wake))
	}
	return true
}

// sync brings one pod to the stage that is due and returns when the next one will be.
func (p *pods) sync(ctx context.Context, key string) (wake time.Time, err error) {
	o, exists, err := p.informer.GetStore().GetByKey(key)
	if err != nil || !exists {
		p.forget(key)
		return time.Time{}, err
	}
	pod := o.(*corev1.Pod)
	h, ok := p.hosts[pod.Spec.NodeName]
	if !ok {
		return time.Time{}, nil
	}
	h.busy.RLock()
	defer h.busy.RUnlock()
	if h.frozen {
		return time.Time{}, nil
	}
	if err := p.meet(ctx, key, pod, h); err != nil {
		return time.Time{}, err
	}
	plan, problems := p.habits.PlanFor(pod)
	missing, err := p.sources.missing(ctx, pod, plan)
	if err != nil {
		return time.Time{}, fmt.Errorf("look for what the pod refers to: %w", err)
	}
	step, err := p.next(key, pod, h, stage.Input{Pod: pod, Plan: plan, Missing: missing, Host: stage.Host{NodeIP: h.ip}, Now: time.Now()})
	if err != nil {
		return time.Time{}, err
	}
	if err := errors.Join(p.report(ctx, pod, step.Status), p.tellWhy(ctx, key, pod), p.reportAll(ctx, key, pod, notices(step, problems))); err != nil {
		return time.Time{}, err
	}
	if step.Remove {
		return time.Time{}, p.remove(ctx, pod)
	}
	return step.Wake, nil
}

// meet begins to remember a pod that is new, unless its node does not take it: such a pod has failed.
func (p *pods) meet(ctx context.Context, key string, pod *corev1.Pod, h *host) error {
	p.mu.Lock()
	known, ok := p.lives[key]
	p.mu.Unlock()
	if ok && known.uid == pod.UID {
		return nil
	}
	known = life{uid: pod.UID, node: pod.Spec.NodeName, status: pod.Status, fresh: pod.Status.StartTime == nil}
	switch {
	case stage.Terminal(pod.Status.Phase):
	case pod.Status.StartTime != nil, pod.DeletionTimestamp != nil:
		h.admission.keep(pod)
	default:
		result, err := h.admission.admit(ctx, pod)
		if err != nil {
			return fmt.Errorf("look whether node %s takes it: %w", pod.Spec.NodeName, err)
		}
		if !result.Admit {
			known.status = stage.Rejected(pod, result.Reason, result.Message, metav1.Now())
			known.refused = []stage.Event{{Type: corev1.EventTypeWarning, Reason: result.Reason, Message: result.Message}}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(key)
	p.lives[key] = known
	return nil
}

// next computes the pod's stage and remembers it.
func (p *pods) next(key string, pod *corev1.Pod, h *host, in stage.Input) (stage.Step, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.lives[key]
	in.Status = known.status
	if !stage.Terminal(pod.Status.Phase) && !stage.Terminal(known.status.Phase) && !pod.Spec.HostNetwork {
		ip, err := h.addresses.take(pod.UID)
		if err != nil {
			return stage.Step{}, fmt.Errorf("%s: %w", pod.Spec.NodeName, err)
		}
		in.Host.PodIP = ip.String()
	}
	step := stage.Next(in)
	step.Events = append(step.Events, known.refused...)
	known.status = step.Status
	p.lives[key] = known
	if stage.Terminal(step.Status.Phase) {
		h.addresses.release(pod.UID)
	}
	return step, nil
}

func (p *pods) forget(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(key)
}

// drop needs p.mu.
func (p *pods) drop(key string) {
	if old, ok := p.lives[key]; ok {
		p.hosts[old.node].addresses.release(old.uid)
		delete(p.lives, key)
	}
}

// report writes the status if the API server shows another one.
func (p *pods) report(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	patch, err := statusPatch(pod, status)
	if err != nil || patch == nil {
		return err
	}
	_, err = p.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return ignoreReplaced(err)
}

// remove tells the API server that nothing of the deleted pod runs any more. It names what it has seen: a pod that a
// reset has brought back under the same UID stays.
func (p *pods) remove(ctx context.Context, pod *corev1.Pod) error {
	err := p.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64),
		Preconditions:      &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion},
	})
	return ignoreReplaced(err)
}

// ignoreReplaced drops the errors of a pod that is gone, or gone and made anew: the informer brings that news.
func ignoreReplaced(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// statusPatch is nil when the status is as the API server shows it. It names the pod's UID, so that it does not apply
// to a new pod of the same name, and leaves alone what others wrote in the meantime.
func statusPatch(pod *corev1.Pod, status corev1.PodStatus) ([]byte, error) {
	before, err := json.Marshal(&corev1.Pod{Status: pod.Status})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(&corev1.Pod{Status: status})
	if err != nil || bytes.Equal(before, after) {
		return nil, err
	}
	after, err = json.Marshal(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Status: status})
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
}
