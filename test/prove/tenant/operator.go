package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	finalizer           = "prove.example.com/registry"
	tenantLabel         = "prove.example.com/tenant"
	namespaceAnnotation = "prove.example.com/namespace"
	registry            = "registry" // the namespace with a line for each tenant
)

// operator does for a tenant what its fields do, in this order. A bug replaces one of them.
type operator struct {
	client.Client
	direct client.Reader // the API server, not the cache

	hold, credentials, settings, deployment, service, shards, prune, register, enlist, report, cleanUp, release act
	// gone is called for a tenant that is not there any more.
	gone func(context.Context, types.NamespacedName) error
	// outcome decides what becomes of the error that ended a reconcile.
	outcome func(error) (ctrl.Result, error)
}

type act func(context.Context, *Tenant) error

// newOperator returns the operator without a bug.
func newOperator(c client.Client, direct client.Reader) *operator {
	o := &operator{Client: c, direct: direct}
	o.hold = o.addFinalizer
	o.credentials = o.ensureCredentials
	o.settings = o.ensureSettings
	o.deployment = o.ensureDeployment
	o.service = o.ensureService
	o.shards = o.ensureShards
	o.prune = o.pruneSettings
	o.register = o.ensureEntry
	o.enlist = o.ensureIndexed
	o.report = o.reportStatus
	o.cleanUp = o.removeRegistration
	o.release = o.removeFinalizer
	o.gone = func(context.Context, types.NamespacedName) error { return nil }
	o.outcome = func(err error) (ctrl.Result, error) { return ctrl.Result{}, err }
	return o
}

// Reconcile brings a tenant to what its specification says.
func (o *operator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	t := &Tenant{}
	if err := o.Get(ctx, request.NamespacedName, t); apierrors.IsNotFound(err) {
		return ctrl.Result{}, o.gone(ctx, request.NamespacedName)
	} else if err != nil {
		return ctrl.Result{}, err
	}
	acts := []act{o.hold, o.credentials, o.settings, o.deployment, o.service, o.shards, o.prune, o.register, o.enlist, o.report}
	if !t.DeletionTimestamp.IsZero() {
		if !controllerutil.ContainsFinalizer(t, finalizer) {
			return ctrl.Result{}, nil
		}
		acts = []act{o.cleanUp, o.release}
	}
	for _, do := range acts {
		if err := do(ctx, t); err != nil {
			return o.outcome(err)
		}
	}
	return ctrl.Result{}, nil
}

// addFinalizer has the tenant wait for the clean-up before it goes.
func (o *operator) addFinalizer(ctx context.Context, t *Tenant) error {
	if !controllerutil.AddFinalizer(t, finalizer) {
		return nil
	}
	return o.Update(ctx, t)
}

func (o *operator) removeFinalizer(ctx context.Context, t *Tenant) error {
	controllerutil.RemoveFinalizer(t, finalizer)
	return client.IgnoreNotFound(o.Update(ctx, t))
}

// reportStatus writes the status if it has changed.
func (o *operator) reportStatus(ctx context.Context, t *Tenant) error {
	before := t.deepCopy()
	if err := o.setStatus(ctx, t); err != nil || equality.Semantic.DeepEqual(before.Status, t.Status) {
		return err
	}
	return o.Status().Update(ctx, t)
}

// setStatus sets what the operator has done.
func (o *operator) setStatus(ctx context.Context, t *Tenant) error {
	t.Status.ObservedGeneration = t.Generation
	t.Status.Shards = t.Spec.Shards
	t.Status.Registered = true
	t.Status.Settings = settingsName(t)
	condition, err := o.ready(ctx, t)
	if err == nil {
		meta.SetStatusCondition(&t.Status.Conditions, condition)
	}
	return err
}

// ready is whether the web server has all replicas.
func (o *operator) ready(ctx context.Context, t *Tenant) (metav1.Condition, error) {
	condition := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Starting", ObservedGeneration: t.Generation}
	d := &appsv1.Deployment{}
	if err := o.Get(ctx, client.ObjectKeyFromObject(t), d); err != nil {
		return condition, client.IgnoreNotFound(err)
	}
	if d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas == t.Spec.Replicas && d.Status.AvailableReplicas == t.Spec.Replicas {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Available"
	}
	return condition, nil
}
