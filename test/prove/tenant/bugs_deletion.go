package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// noOwner makes a Service without an owner, which stays when its tenant goes. The most frequent leftover.
func noOwner(o *operator, _ manager.Manager) {
	o.service = func(ctx context.Context, t *Tenant) error {
		s := newService(t)
		_, err := controllerutil.CreateOrUpdate(ctx, o.Client, s, func() error {
			setService(s, t)
			return nil
		})
		return err
	}
}

// finalizerFirst lets the tenant go before the clean-up. After a kill or an error between the two there is no tenant
// any more that has it done.
func finalizerFirst(o *operator, _ manager.Manager) {
	o.cleanUp, o.release = o.release, o.cleanUp
}

// finalizerStuck logs that the clean-up failed, and comes back when something happens, which nothing does. The tenant
// stays until the operator starts again.
func finalizerStuck(o *operator, _ manager.Manager) {
	cleaned := false
	o.cleanUp = func(ctx context.Context, t *Tenant) error {
		err := o.removeRegistration(ctx, t)
		if cleaned = err == nil; !cleaned {
			klog.ErrorS(err, "Cannot clean up")
		}
		return nil
	}
	o.release = func(ctx context.Context, t *Tenant) error {
		if !cleaned {
			return nil
		}
		return o.removeFinalizer(ctx, t)
	}
}

// asyncCleanUp lets the tenant go and cleans up in the background, by name. A kill loses the clean-up, and a tenant
// that is made again at once loses its line in the registry. Seen where a clean-up takes long.
func asyncCleanUp(o *operator, mgr manager.Manager) {
	o.cleanUp = func(_ context.Context, t *Tenant) error {
		go func() {
			time.Sleep(300 * time.Millisecond) // the other side is slow
			if err := o.removeRegistration(context.Background(), t.deepCopy()); err != nil {
				klog.ErrorS(err, "Cannot clean up")
			}
		}()
		return nil
	}
	o.register = func(ctx context.Context, t *Tenant) error {
		if t.Status.Registered && t.Status.ObservedGeneration == t.Generation {
			return nil
		}
		return o.ensureEntry(ctx, t)
	}
}

// panicNotFound uses the tenant's line in the registry without a look whether it was found. Once the line is deleted
// and the finalizer is not, each start ends in the same panic.
func panicNotFound(o *operator, _ manager.Manager) {
	o.cleanUp = func(ctx context.Context, t *Tenant) error {
		now := &Tenant{} // after the last reconcile the cache may still have the tenant: that is no mistake of this one
		err := o.direct.Get(ctx, client.ObjectKeyFromObject(t), now)
		if err != nil || !controllerutil.ContainsFinalizer(now, finalizer) {
			return client.IgnoreNotFound(err)
		}
		entry, err := o.entry(ctx, t)
		if err != nil {
			return err
		}
		klog.InfoS("Removing the tenant", "title", entry.Data["title"])
		return o.removeRegistration(ctx, t)
	}
}

// entry is the tenant's line in the registry, nil if there is none.
func (o *operator) entry(ctx context.Context, t *Tenant) (*corev1.ConfigMap, error) {
	entry := newEntry(t)
	if err := o.direct.Get(ctx, client.ObjectKeyFromObject(entry), entry); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return entry, nil
}

// deleteByName replaces the Service when the theme has changed, by name and without its UID, and makes one only for a
// theme that the status does not have. A cache that still has the old Service lets it delete the new one. Operators
// "delete and create" so for fields that cannot be changed.
func deleteByName(o *operator, _ manager.Manager) {
	o.service = func(ctx context.Context, t *Tenant) error {
		s := newService(t)
		found, err := o.exists(ctx, s)
		if err != nil {
			return err
		}
		if found && s.Annotations["theme"] != t.Spec.Theme {
			if err := o.Delete(ctx, newService(t)); err != nil {
				return err
			}
			found = false
		}
		if found || t.Status.Settings == settingsName(t) {
			return nil
		}
		s = newService(t)
		s.Annotations = map[string]string{"theme": t.Spec.Theme}
		setService(s, t)
		if err := controllerutil.SetControllerReference(t, s, o.Scheme()); err != nil {
			return err
		}
		return o.Create(ctx, s)
	}
}
