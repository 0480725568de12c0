package baseline

import (
	"bytes"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// Where the store has these objects, behind its prefix.
const (
	podsBelow  = "/pods/"
	nodesBelow = "/minions/"
)

// Revive has the baseline take account of pods that run for real, on nodes with this label, whose containers no store
// brings back. A pod that still runs keeps the status that it has now. A pod that has ended since, or is ending, comes
// back as another pod. Its kubelet is done with the old one, and would write down its end whenever it gets to it.
func (b *Baseline) Revive(now etcd.Snapshot, label string) error {
	nodes, pods := sets.New[string](), map[string][]byte{}
	real := func(key string, value []byte) {
		if name, ok := strings.CutPrefix(key, b.prefix+nodesBelow); ok && bytes.Contains(value, []byte(label)) {
			nodes.Insert(name)
		}
	}
	for key, value := range b.values {
		real(key, value) // it may have been deleted since, and its pods have ended then
	}
	for _, p := range now.Pairs {
		real(string(p.Key), p.Value)
		if strings.HasPrefix(string(p.Key), b.prefix+podsBelow) {
			pods[string(p.Key)] = p.Value
		}
	}
	for key, value := range b.values {
		if nodes.Len() == 0 || !strings.HasPrefix(key, b.prefix+podsBelow) || bytes.Equal(value, pods[key]) {
			continue
		}
		then, err := readPod(value)
		if err == nil && nodes.Has(then.pod.Spec.NodeName) {
			if value, err = then.revived(pods[key]); err == nil {
				b.set(key, value)
			}
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
	}
	return nil
}

// storedPod is a pod as the store has it.
type storedPod struct {
	unknown runtime.Unknown
	pod     corev1.Pod
}

func readPod(value []byte) (*storedPod, error) {
	raw, ok := bytes.CutPrefix(value, protobufMagic)
	if !ok {
		return &storedPod{}, nil // the server was told to store JSON
	}
	p := &storedPod{}
	if err := p.unknown.Unmarshal(raw); err != nil {
		return nil, err
	}
	return p, p.pod.Unmarshal(p.unknown.Raw)
}

func (p *storedPod) write() ([]byte, error) {
	raw, err := p.pod.Marshal()
	if err != nil {
		return nil, err
	}
	p.unknown.Raw = raw
	value, err := p.unknown.Marshal()
	return append(bytes.Clone(protobufMagic), value...), err
}

// revived is what the store is to have of the pod; now is what it has.
func (p *storedPod) revived(now []byte) ([]byte, error) {
	if now != nil {
		is, err := readPod(now)
		if err != nil {
			return nil, err
		}
		if p.lives(is) {
			p.pod.Status, p.pod.ManagedFields = is.pod.Status, is.pod.ManagedFields
			if equality.Semantic.DeepEqual(p.pod, is.pod) {
				return now, nil
			}
			return p.write()
		}
	}
	p.pod.UID = uuid.NewUUID()
	if !isOver(&p.pod) {
		p.pod.Status = unstarted(p.pod.Status)
	}
	return p.write()
}

// lives says whether a pod is the same one, and runs on, or has ended both then and now.
func (p *storedPod) lives(now *storedPod) bool {
	return p.pod.UID == now.pod.UID && now.pod.DeletionTimestamp == nil && isOver(&p.pod) == isOver(&now.pod)
}

func isOver(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// unstarted is the status of a pod that has a node, which has not looked at it yet.
func unstarted(s corev1.PodStatus) corev1.PodStatus {
	fresh := corev1.PodStatus{Phase: corev1.PodPending, QOSClass: s.QOSClass}
	for _, c := range s.Conditions {
		if c.Type == corev1.PodScheduled {
			fresh.Conditions = append(fresh.Conditions, c)
		}
	}
	return fresh
}
