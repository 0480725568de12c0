package simnode

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestUnreadNodeRefusesNoPod: a pod is neither taken nor refused while its node cannot be read, and taken then.
func TestUnreadNodeRefusesNoPod(t *testing.T) {
	unread := errors.New("the API server does not answer")
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}}}
	answer := unread
	a := newAdmission(func(context.Context, bool) (*corev1.Node, error) {
		if answer != nil {
			return nil, answer
		}
		return n, nil
	}, func() []*corev1.Pod { return nil })
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u"}, Spec: corev1.PodSpec{NodeName: "n"}}
	if _, err := a.admit(t.Context(), p); !errors.Is(err, unread) {
		t.Errorf("the error is %v", err)
	}
	answer = nil
	if result, err := a.admit(t.Context(), p); err != nil || !result.Admit {
		t.Errorf("%+v, %v", result, err)
	}
}
