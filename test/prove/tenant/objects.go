package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// objectMeta is that of an object beside the tenant, with the label by which lists find it.
func objectMeta(t *Tenant, name, part string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: t.Namespace, Name: name, Labels: map[string]string{tenantLabel: t.Name, "part": part}}
}

// ensure creates the object of the tenant, or changes it to what set makes of it.
func (o *operator) ensure(ctx context.Context, t *Tenant, object client.Object, set func()) error {
	_, err := controllerutil.CreateOrUpdate(ctx, o.Client, object, func() error {
		set()
		return controllerutil.SetControllerReference(t, object, o.Scheme())
	})
	return err
}

// ensureCredentials makes the password once: a second one would lock the tenant's users out.
func (o *operator) ensureCredentials(ctx context.Context, t *Tenant) error {
	secret := newCredentials(t)
	return o.ensure(ctx, t, secret, func() {
		if len(secret.Data["password"]) == 0 {
			secret.Data = map[string][]byte{"password": []byte(rand.Text())}
		}
	})
}

func newCredentials(t *Tenant) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: objectMeta(t, t.Name+"-credentials", "credentials")}
}

// settingsName is that of the settings as they are now. Other settings get another name, so that pods are replaced.
func settingsName(t *Tenant) string {
	h := fnv.New32a()
	h.Write([]byte(t.Spec.Theme))
	return fmt.Sprintf("%s-settings-%08x", t.Name, h.Sum32())
}

func newSettings(t *Tenant) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: objectMeta(t, settingsName(t), "settings")}
}

func (o *operator) ensureSettings(ctx context.Context, t *Tenant) error {
	settings := newSettings(t)
	return o.ensure(ctx, t, settings, func() { settings.Data = map[string]string{"THEME": t.Spec.Theme} })
}

// pruneSettings deletes settings that no pod of the Deployment is made with any more.
func (o *operator) pruneSettings(ctx context.Context, t *Tenant) error {
	return o.pruneSettingsBut(ctx, t, settingsName(t))
}

func (o *operator) pruneSettingsBut(ctx context.Context, t *Tenant, current string) error {
	found, err := o.parts(ctx, t, "settings")
	if err != nil {
		return err
	}
	for i := range found {
		if s := &found[i]; s.Name != current && metav1.IsControlledBy(s, t) {
			if err := o.Delete(ctx, s, client.Preconditions{UID: &s.UID}); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

// parts lists the tenant's ConfigMaps of a sort.
func (o *operator) parts(ctx context.Context, t *Tenant, part string) ([]corev1.ConfigMap, error) {
	var list corev1.ConfigMapList
	err := o.List(ctx, &list, client.InNamespace(t.Namespace), client.MatchingLabels{tenantLabel: t.Name, "part": part})
	return list.Items, err
}

func newDeployment(t *Tenant) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: t.Name}}
}

func (o *operator) ensureDeployment(ctx context.Context, t *Tenant) error {
	d := newDeployment(t)
	return o.ensure(ctx, t, d, func() { setDeployment(d, t) })
}

// setDeployment sets what the tenant decides, and leaves alone what the API server completes.
func setDeployment(d *appsv1.Deployment, t *Tenant) {
	labels := map[string]string{tenantLabel: t.Name}
	d.Spec.Replicas = &t.Spec.Replicas
	if d.Spec.Selector == nil {
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	}
	d.Spec.Template.Labels = map[string]string{}
	maps.Copy(d.Spec.Template.Labels, t.Spec.Labels)
	maps.Copy(d.Spec.Template.Labels, labels)
	if len(d.Spec.Template.Spec.Containers) == 0 {
		d.Spec.Template.Spec.Containers = make([]corev1.Container, 1)
	}
	c := &d.Spec.Template.Spec.Containers[0]
	c.Name, c.Image = "web", "registry.k8s.io/pause:3.10"
	c.EnvFrom = []corev1.EnvFromSource{
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: settingsName(t)}}},
		{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: newCredentials(t).Name}}},
	}
}

func newService(t *Tenant) *corev1.Service {
	return &corev1.Service{ObjectMeta: objectMeta(t, t.Name, "web")}
}

func (o *operator) ensureService(ctx context.Context, t *Tenant) error {
	s := newService(t)
	return o.ensure(ctx, t, s, func() { setService(s, t) })
}

func setService(s *corev1.Service, t *Tenant) {
	s.Spec.Selector = map[string]string{tenantLabel: t.Name}
	if len(s.Spec.Ports) == 0 {
		s.Spec.Ports = make([]corev1.ServicePort, 1)
	}
	p := &s.Spec.Ports[0]
	p.Name, p.Port, p.TargetPort, p.Protocol = "http", 80, intstr.FromInt32(8080), corev1.ProtocolTCP
}

func newShard(t *Tenant, i int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: objectMeta(t, fmt.Sprintf("%s-shard-%d", t.Name, i), "shard"), Data: map[string]string{"number": strconv.Itoa(i)}}
}

// ensureShards makes the shards with numbers below the wanted count, and deletes those above.
func (o *operator) ensureShards(ctx context.Context, t *Tenant) error {
	for i := range t.Spec.Shards {
		shard := newShard(t, i)
		if err := o.ensure(ctx, t, shard, func() {}); err != nil {
			return err
		}
	}
	return o.deleteShards(ctx, t)
}

// deleteShards deletes the shards with numbers that are not wanted any more.
func (o *operator) deleteShards(ctx context.Context, t *Tenant) error {
	found, err := o.parts(ctx, t, "shard")
	if err != nil {
		return err
	}
	for i := range found {
		number, err := strconv.Atoi(strings.TrimPrefix(found[i].Name, t.Name+"-shard-"))
		if err != nil || number < t.Spec.Shards || !metav1.IsControlledBy(&found[i], t) {
			continue
		}
		if err := o.Delete(ctx, &found[i], client.Preconditions{UID: &found[i].UID}); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func newEntry(t *Tenant) *corev1.ConfigMap {
	m := objectMeta(t, t.Namespace+"."+t.Name, "entry")
	m.Namespace, m.Annotations = registry, map[string]string{namespaceAnnotation: t.Namespace}
	return &corev1.ConfigMap{ObjectMeta: m}
}

// ensureEntry writes the tenant's line in the registry.
func (o *operator) ensureEntry(ctx context.Context, t *Tenant) error {
	entry := newEntry(t)
	_, err := controllerutil.CreateOrUpdate(ctx, o.Client, entry, func() error {
		entry.Data = map[string]string{"title": t.Spec.Title}
		return nil
	})
	return err
}

// ensureIndexed adds the tenant to the index that all tenants share.
func (o *operator) ensureIndexed(ctx context.Context, t *Tenant) error {
	index, err := o.index(ctx)
	if err != nil || index.Data[t.Name] == t.Namespace {
		return err
	}
	indexed(index, t)
	return o.writeIndex(ctx, index)
}

func indexed(index *corev1.ConfigMap, t *Tenant) {
	if index.Data == nil {
		index.Data = map[string]string{}
	}
	index.Data[t.Name] = t.Namespace
}

// index reads the index, which is empty as long as there is none. The cache may not have the tenant's own line yet.
func (o *operator) index(ctx context.Context) (*corev1.ConfigMap, error) {
	index := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: registry, Name: "index"}}
	err := o.direct.Get(ctx, client.ObjectKeyFromObject(index), index)
	return index, client.IgnoreNotFound(err)
}

// writeIndex fails if the index has changed since it was read.
func (o *operator) writeIndex(ctx context.Context, index *corev1.ConfigMap) error {
	if index.ResourceVersion == "" {
		return o.Create(ctx, index)
	}
	return o.Update(ctx, index)
}

// removeRegistration takes the tenant out of the registry, which Kubernetes does not clean up. It asks no cache whether
// the line is there. The finalizer keeps a later tenant of that name from having one already.
func (o *operator) removeRegistration(ctx context.Context, t *Tenant) error {
	if err := o.Delete(ctx, newEntry(t)); client.IgnoreNotFound(err) != nil {
		return err
	}
	index, err := o.index(ctx)
	if err != nil || index.Data[t.Name] == "" {
		return err
	}
	delete(index.Data, t.Name)
	return o.writeIndex(ctx, index)
}
