package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/bench/controlplane"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

const resetWall quantity = "reset"

// What a reset removes: 200 objects, among them a namespace, a CRD with its objects, and Services with addresses.
const (
	resetWidgets    = 100
	resetServices   = 20
	resetConfigMaps = 78
	resetOthers     = 2 // the namespace and the CRD
	resetObjects    = resetWidgets + resetServices + resetConfigMaps + resetOthers
)

// reset fills a cluster and measures how long a client waits until it is as it was. The next round, which makes the
// same namespace, CRD and addresses, could not do that if something were left.
func reset(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	plane, err := b.slipway.Start(ctx)
	if err != nil {
		return nil, err
	}
	s, err := b.rounds(ctx, "reset", func(ctx context.Context, s series) error { return resetOnce(ctx, plane, s) })
	if err := errors.Join(err, plane.Stop()); err != nil {
		return nil, err
	}
	const bar = 30
	return []sidebyside.Figure{
		s.figure(resetWall, "ms", fmt.Sprintf("reset of %d objects", resetObjects), sidebyside.AtMost(bar)),
	}, nil
}

func resetOnce(ctx context.Context, plane *controlplane.Plane, s series) error {
	client, err := kubernetes.NewForConfig(plane.Config)
	if err != nil {
		return err
	}
	if err := errors.Join(plane.Establish(ctx), fill(ctx, plane, client)); err != nil {
		return err
	}
	var answer controlplane.ResetDone
	took, err := timed(func() error { return plane.Request(ctx, "reset", nil, &answer) })
	if err != nil {
		return err
	}
	if answer.Removed < resetObjects {
		return fmt.Errorf("reset says that it removed %d objects of %d", answer.Removed, resetObjects)
	}
	s.add(ours, resetWall, milliseconds(took))
	switch _, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{}); {
	case err == nil:
		return errors.New("the namespace is still there after a reset")
	case apierrors.IsNotFound(err):
		return nil
	default:
		return err
	}
}

// namespace holds the ConfigMaps and Services.
const namespace = "bench"

func fill(ctx context.Context, plane *controlplane.Plane, client kubernetes.Interface) error {
	w, err := newWriter(plane.Config)
	if err != nil {
		return err
	}
	meta := func(name string, n int) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, n)}
	}
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	errs := []error{err, w.create(ctx, resetWidgets, together)}
	for n := range resetConfigMaps {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("map", n)}, metav1.CreateOptions{})
		errs = append(errs, err)
	}
	for n := range resetServices {
		service := &corev1.Service{ObjectMeta: meta("service", n), Spec: corev1.ServiceSpec{
			ClusterIP: fmt.Sprintf("10.0.200.%d", n), Ports: []corev1.ServicePort{{Port: 80}},
		}}
		_, err := client.CoreV1().Services(namespace).Create(ctx, service, metav1.CreateOptions{})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
