package main

import (
	"context"
	"maps"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// secretLate goes on if the Secret cannot be created, and makes the Deployment without it. A Deployment that is there
// gets replicas and labels only, so the Secret, once made, is never used. An order across objects that nothing
// corrects.
func secretLate(o *operator, _ manager.Manager) {
	created := false
	o.credentials = func(ctx context.Context, t *Tenant) error {
		err := o.ensureCredentials(ctx, t)
		if created = err == nil; !created {
			klog.ErrorS(err, "Cannot make the credentials yet")
		}
		return nil
	}
	o.deployment = func(ctx context.Context, t *Tenant) error {
		d := newDeployment(t)
		return o.ensure(ctx, t, d, func() {
			var before []corev1.EnvFromSource
			fresh := d.ResourceVersion == ""
			if !fresh {
				before = d.Spec.Template.Spec.Containers[0].EnvFrom
			}
			setDeployment(d, t)
			c := &d.Spec.Template.Spec.Containers[0]
			switch {
			case fresh && !created:
				c.EnvFrom = c.EnvFrom[:1]
			case !fresh:
				c.EnvFrom = append(c.EnvFrom[:1], before[1:]...)
			}
		})
	}
}

// errorSwallowed logs each error of a reconcile, and reports success to the queue.
func errorSwallowed(o *operator, _ manager.Manager) {
	o.outcome = func(err error) (ctrl.Result, error) {
		klog.ErrorS(err, "Cannot reconcile the tenant")
		return ctrl.Result{}, nil
	}
}

// requeueForgotten leaves an API server that has too much to do alone, and forgets to come back.
func requeueForgotten(o *operator, _ manager.Manager) {
	o.outcome = func(err error) (ctrl.Result, error) {
		if apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) {
			klog.ErrorS(err, "The API server is busy")
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
}

// conflictSuccess takes a conflict for the sign that an event is on its way, which one of Kubernetes' own making is,
// and one of another writer's field may not be. Frequent, to keep conflicts out of the log.
func conflictSuccess(o *operator, _ manager.Manager) {
	o.outcome = func(err error) (ctrl.Result, error) {
		if apierrors.IsConflict(err) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
}

// startCounter counts its starts in the registry's index.
func startCounter(o *operator, mgr manager.Manager) {
	onStart(mgr, func(ctx context.Context) error {
		starts := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: registry, Name: "operator"}}
		_, err := controllerutil.CreateOrUpdate(ctx, o.Client, starts, func() error {
			n, _ := strconv.Atoi(starts.Data["starts"])
			starts.Data = map[string]string{"starts": strconv.Itoa(n + 1)}
			return nil
		})
		return err
	})
}

// startStamp writes the time of its start into the pods' template: each start of the operator replaces all pods.
func startStamp(o *operator, _ manager.Manager) {
	start := time.Now().Format(time.RFC3339Nano)
	o.deployment = func(ctx context.Context, t *Tenant) error {
		d := newDeployment(t)
		return o.ensure(ctx, t, d, func() {
			setDeployment(d, t)
			d.Spec.Template.Annotations = map[string]string{"prove.example.com/operator-start": start}
		})
	}
}

// labelsStay merges the tenant's labels into those that the pods have, so a label that the user takes away stays. Acto
// finds that the same declaration has other results after other declarations.
func labelsStay(o *operator, _ manager.Manager) {
	o.deployment = func(ctx context.Context, t *Tenant) error {
		d := newDeployment(t)
		return o.ensure(ctx, t, d, func() {
			before := maps.Clone(d.Spec.Template.Labels)
			setDeployment(d, t)
			for label, value := range before {
				if _, set := d.Spec.Template.Labels[label]; !set {
					d.Spec.Template.Labels[label] = value
				}
			}
		})
	}
}

// onStart runs what the operator does once, after its caches are filled.
func onStart(mgr manager.Manager, do func(context.Context) error) {
	if err := mgr.Add(manager.RunnableFunc(do)); err != nil {
		panic(err)
	}
}
