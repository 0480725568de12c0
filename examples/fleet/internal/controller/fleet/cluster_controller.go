// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

// Package fleet keeps the members of the fleet engaged as Cluster objects and their Secrets ask for.
// cluster_controller.go is the way through one pass, status.go what is reported. Package member has what runs for a
// member.
package fleet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	fleetv1 "example.com/fleet/api/fleet/v1"
	"example.com/fleet/internal/kubeconfig"
	"example.com/fleet/internal/member"
)

// ClusterReconciler keeps the members engaged. It never waits for a member: one that does not answer must not hold up a
// worker.
type ClusterReconciler struct {
	client.Client
	Fleet *member.Fleet

	// Changes says which member's state has changed.
	Changes <-chan event.GenericEvent

	// Recorder records events about Clusters. SetupWithManager puts the manager's here if nothing is set.
	Recorder events.EventRecorder
}

// The permissions in the members are in config/member/role.yaml: they are of other accounts.

// +kubebuilder:rbac:groups=fleet.my.domain,resources=clusters,verbs=list;watch
// +kubebuilder:rbac:groups=fleet.my.domain,resources=clusters/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile brings one member in line with its Cluster object. A deleted Cluster needs no finalizer: what there is of
// it is in this process, and a new process begins without it.
func (r *ClusterReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cluster fleetv1.Cluster
	err := r.Get(ctx, req.NamespacedName, &cluster)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if err != nil || cluster.DeletionTimestamp != nil {
		r.Fleet.Drop(nameOf(req.NamespacedName))
		return ctrl.Result{}, nil
	}
	seen, err := r.keep(ctx, &cluster)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, &cluster, seen)
}

// observation is what one pass finds.
type observation struct {
	member.State
	hash string // of the kubeconfig
}

// keep has the member engaged by the kubeconfig in its Secret. Without one that can be used it is dropped: the old
// credentials were taken away on purpose.
func (r *ClusterReconciler) keep(ctx context.Context, cluster *fleetv1.Cluster) (seen observation, err error) {
	name := nameOf(client.ObjectKeyFromObject(cluster))
	connection, hash, err := r.connection(ctx, cluster)
	var problem *member.Problem
	if errors.As(err, &problem) {
		r.Fleet.Drop(name)
		return observation{State: member.State{Problem: problem}}, nil
	}
	if err != nil {
		return seen, err
	}
	return observation{r.Fleet.Keep(name, connection), hash}, nil
}

// connection reads how a member is reached. Its version changes with the kubeconfig and the labels, and not with other
// changes of the Secret.
func (r *ClusterReconciler) connection(ctx context.Context, cluster *fleetv1.Cluster) (c member.Connection, hash string, err error) {
	ref := cluster.Spec.KubeconfigSecret
	var secret corev1.Secret
	err = r.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}, &secret)
	if client.IgnoreNotFound(err) != nil {
		return c, "", fmt.Errorf("read the Secret: %w", err)
	}
	data, ok := secret.Data[ref.Key]
	if !ok {
		return c, "", &member.Problem{Reason: fleetv1.ReasonSecretMissing,
			Message: fmt.Sprintf("There is no Secret %s of the type %s with the key %s.", ref.Name, fleetv1.KubeconfigSecretType, ref.Key)}
	}
	config, err := kubeconfig.Parse(data)
	switch {
	case errors.Is(err, kubeconfig.ErrRefused):
		return c, "", &member.Problem{Reason: fleetv1.ReasonKubeconfigRefused, Message: err.Error()}
	case err != nil:
		return c, "", &member.Problem{Reason: fleetv1.ReasonKubeconfigInvalid, Message: err.Error()}
	}
	hash = fmt.Sprintf("%x", sha256.Sum256(data))
	known := labels.Set(cluster.Labels)
	return member.Connection{Config: config, Labels: known, Version: fmt.Sprint(cluster.UID, " ", hash, " ", known)}, hash, nil
}

// nameOf is the name by which the runtime knows a member.
func nameOf(key types.NamespacedName) multicluster.ClusterName {
	return multicluster.ClusterName(key.String())
}

// CacheOptions are those of the manager's cache for this controller: of Secrets it holds those with kubeconfigs alone.
// So a Cluster cannot name other Secrets, either.
func CacheOptions() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Secret{}: {Field: fields.OneTermEqualSelector("type", string(fleetv1.KubeconfigSecretType))},
	}
}

// Notify returns what sends the changes of members to the reconciler.
func Notify(changes chan<- event.GenericEvent) func(context.Context, multicluster.ClusterName) {
	return func(ctx context.Context, name multicluster.ClusterName) {
		namespace, object, _ := strings.Cut(name.String(), string(types.Separator))
		cluster := &fleetv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: object}}
		select {
		case changes <- event.GenericEvent{Object: cluster}:
		case <-ctx.Done():
		}
	}
}

// secretIndex finds Clusters by the Secret that they name.
const secretIndex = "spec.kubeconfigSecret.name"

// SetupWithManager registers the reconciler for Clusters, for their Secrets, and for what happens to members.
func (r *ClusterReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("fleet-controller")
	}
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &fleetv1.Cluster{}, secretIndex, func(o client.Object) []string {
		return []string{o.(*fleetv1.Cluster).Spec.KubeconfigSecret.Name}
	})
	if err != nil {
		return fmt.Errorf("index Clusters by their Secrets: %w", err)
	}
	changed := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&fleetv1.Cluster{}, builder.WithPredicates(changed)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.reachedBy)).
		WatchesRawSource(source.Channel(r.Changes, &handler.EnqueueRequestForObject{})).
		Named("fleet-cluster").
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
}

// reachedBy returns the Clusters that name a Secret.
func (r *ClusterReconciler) reachedBy(ctx context.Context, secret client.Object) []reconcile.Request {
	var list fleetv1.ClusterList
	err := r.List(ctx, &list, client.InNamespace(secret.GetNamespace()), client.MatchingFields{secretIndex: secret.GetName()})
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "List the Clusters of a Secret", "secret", client.ObjectKeyFromObject(secret))
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}
