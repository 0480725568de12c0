// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the operator's webhooks: what the API server asks before it stores an object, and
// to convert one between versions.
package v1

import (
	"context"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	redisv1 "example.com/rediscluster/api/v1"
)

// SetupRedisClusterWebhookWithManager lets the manager's webhook server answer for RedisCluster objects.
func SetupRedisClusterWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &redisv1.RedisCluster{}).
		WithDefaulter(&RedisClusterDefaulter{}).
		WithValidator(&RedisClusterValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-bytewang123-redis-wzj-kubebuilder-io-v1-rediscluster,mutating=true,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=bytewang123-redis.wzj.kubebuilder.io,resources=redisclusters,verbs=create;update,versions=v1,name=mrediscluster-v1.kb.io,admissionReviewVersions=v1

// RedisClusterDefaulter fills in what the author of a RedisCluster left out.
type RedisClusterDefaulter struct{}

// Default changes the object before it is validated and stored, on create and on update.
func (d *RedisClusterDefaulter) Default(_ context.Context, redisCluster *redisv1.RedisCluster) error {
	log.Log.WithName("rediscluster-webhook").V(1).Info("Defaulting", "name", redisCluster.GetName())

	redisCluster.Spec.Size = max(redisCluster.Spec.Size, redisv1.MinSize)
	return nil
}

// +kubebuilder:webhook:path=/validate-bytewang123-redis-wzj-kubebuilder-io-v1-rediscluster,mutating=false,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=bytewang123-redis.wzj.kubebuilder.io,resources=redisclusters,verbs=create;update,versions=v1,name=vrediscluster-v1.kb.io,admissionReviewVersions=v1

// RedisClusterValidator refuses RedisCluster objects that cannot be right, for reasons that the schema of
// the API cannot say.
type RedisClusterValidator struct{}

// ValidateCreate is asked before a new object is stored.
func (v *RedisClusterValidator) ValidateCreate(_ context.Context, redisCluster *redisv1.RedisCluster) (admission.Warnings, error) {
	return nil, v.refuse(redisCluster, nil, v.validate(redisCluster))
}

// ValidateUpdate is asked before a changed object is stored. A stricter rule must not hold objects that are stored
// already: an object that is being deleted passes, and so do mistakes that the old object has too.
func (v *RedisClusterValidator) ValidateUpdate(_ context.Context, old, redisCluster *redisv1.RedisCluster) (admission.Warnings, error) {
	if redisCluster.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	return nil, v.refuse(redisCluster, v.validate(old), v.validate(redisCluster))
}

// ValidateDelete is asked before an object is deleted, once the marker above has delete among its verbs.
func (v *RedisClusterValidator) ValidateDelete(context.Context, *redisv1.RedisCluster) (admission.Warnings, error) {
	return nil, nil
}

// validate collects all mistakes, so that the author of the object sees them at once. An object that is stored already
// may lack what the defaulting webhook fills in.
func (v *RedisClusterValidator) validate(redisCluster *redisv1.RedisCluster) field.ErrorList {
	var mistakes field.ErrorList
	if _, err := redisCluster.Spec.AddrPort(); err != nil {
		mistakes = append(mistakes, field.Invalid(field.NewPath("spec", "addr"), redisCluster.Spec.Addr, "must be ip:port: "+err.Error()))
	}
	return mistakes
}

// refuse returns an error that lists the mistakes which the object did not have before.
func (v *RedisClusterValidator) refuse(redisCluster *redisv1.RedisCluster, before, now field.ErrorList) error {
	added := slices.DeleteFunc(now, func(mistake *field.Error) bool {
		return slices.ContainsFunc(before, func(old *field.Error) bool { return reflect.DeepEqual(old, mistake) })
	})
	if len(added) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "bytewang123-redis.wzj.kubebuilder.io", Kind: "RedisCluster"}, redisCluster.GetName(), added)
}
