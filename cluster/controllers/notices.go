package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
)

// notice is something that holds of an object.
type notice struct{ eventType, reason, message string }

// notices report what holds of objects, by one Event for each state however often an object is looked at: a recorder
// counts the same Event again and again, and makes a new one after each start of a durable cluster. The one goroutine
// that serves the objects uses it.
type notices struct {
	client    kubernetes.Interface
	component string
	said      map[string]saidOf // by the objects' keys
}

type saidOf struct {
	object types.UID
	all    []notice
}

func newNotices(client kubernetes.Interface, component string) *notices {
	return &notices{client: client, component: component, said: map[string]saidOf{}}
}

// forget forgets an object that has gone.
func (n *notices) forget(key string) { delete(n.said, key) }

// keep reports what holds of an object and did not before. What cannot be reported is tried again the next time.
func (n *notices) keep(ctx context.Context, key string, object corev1.ObjectReference, holds ...notice) {
	before := n.said[key]
	now := saidOf{object: object.UID}
	for _, h := range holds {
		if before.object != object.UID || !slices.Contains(before.all, h) {
			if err := n.report(ctx, object, h); err != nil {
				klog.FromContext(ctx).V(2).Info("Cannot record an Event", "controller", n.component, "key", key, "err", err)
				continue
			}
		}
		now.all = append(now.all, h)
	}
	n.said[key] = now
	if len(now.all) == 0 {
		n.forget(key)
	}
}

// report makes the Event of a state, or counts it once more: an object was in the state before.
func (n *notices) report(ctx context.Context, object corev1.ObjectReference, h notice) error {
	events := n.client.CoreV1().Events(object.Namespace)
	sum := sha256.Sum256([]byte(string(object.UID) + "\x00" + h.reason + "\x00" + h.message))
	const maxName = 200
	at := metav1.Now()
	e := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: object.Name[:min(len(object.Name), maxName)] + "." + hex.EncodeToString(sum[:8]), Namespace: object.Namespace},
		InvolvedObject: object, Type: h.eventType, Reason: h.reason, Message: h.message,
		Source: corev1.EventSource{Component: n.component}, FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
	_, err := events.Create(ctx, e, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return again(ctx, events, e)
	}
	return err
}

func again(ctx context.Context, events typedcore.EventInterface, e *corev1.Event) error {
	was, err := events.Get(ctx, e.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	was.Count++
	was.LastTimestamp = e.LastTimestamp
	_, err = events.Update(ctx, was, metav1.UpdateOptions{})
	return err
}
