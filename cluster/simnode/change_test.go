package simnode_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Changes of pods, and of what they refer to.

func all(changes ...func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for _, change := range changes {
			change(p)
		}
	}
}

func variable(source *corev1.EnvVarSource) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "V", ValueFrom: source}} }
}

func secretKey(name, key string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named(name), Key: key}}
}

func configMapKey(name, key string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named(name), Key: key}}
}

// optional makes the variable so.
func optional(p *corev1.Pod) {
	switch source := p.Spec.Containers[0].Env[0].ValueFrom; {
	case source.SecretKeyRef != nil:
		source.SecretKeyRef.Optional = new(true)
	case source.ConfigMapKeyRef != nil:
		source.ConfigMapKeyRef.Optional = new(true)
	}
}

func from(source corev1.EnvFromSource) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{source} }
}

func named(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }

func mounted(source corev1.VolumeSource) func(*corev1.Pod) {
	return all(unused(source), func(p *corev1.Pod) {
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	})
}

// unused adds a volume that no container mounts.
func unused(source corev1.VolumeSource) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: source}} }
}

// below mounts an empty volume by a path with variables.
func below(path string) func(*corev1.Pod) {
	return all(mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), func(p *corev1.Pod) {
		p.Spec.Containers[0].VolumeMounts[0].SubPathExpr = path
	})
}

func imageVolume(reference string, policy corev1.PullPolicy) corev1.VolumeSource {
	return corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: reference, PullPolicy: policy}}
}

func claimVolume(name string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

// claim makes a claim that is not bound.
func claim(t *testing.T, client kubernetes.Interface, name string, mode corev1.PersistentVolumeMode) {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: name, VolumeMode: &mode, StorageClassName: new(""),
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	if _, err := client.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// bind makes the volume of a claim, which is bound then.
func bind(t *testing.T, client kubernetes.Interface, name string) {
	claims := client.CoreV1().PersistentVolumeClaims("default")
	c, err := claims.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: c.Spec.AccessModes, VolumeMode: c.Spec.VolumeMode, Capacity: c.Spec.Resources.Requests,
		ClaimRef:               &corev1.ObjectReference{Namespace: "default", Name: name, UID: c.UID},
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/none"}},
	}}
	if _, err := client.CoreV1().PersistentVolumes().Create(t.Context(), v, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	c.Status.Phase = corev1.ClaimBound
	if _, err := claims.UpdateStatus(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
}

func sysctls(names ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.SecurityContext = &corev1.PodSecurityContext{}
		for _, name := range names {
			p.Spec.SecurityContext.Sysctls = append(p.Spec.SecurityContext.Sysctls, corev1.Sysctl{Name: name, Value: "1"})
		}
	}
}

func items(keys []string) []corev1.KeyToPath {
	var all []corev1.KeyToPath
	for _, key := range keys {
		all = append(all, corev1.KeyToPath{Key: key, Path: key})
	}
	return all
}

func secretVolume(name string, keys ...string) corev1.VolumeSource {
	return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name, Items: items(keys)}}
}

func configMapVolume(name string, keys ...string) corev1.VolumeSource {
	return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named(name), Items: items(keys)}}
}

func projected(name string, optional bool) corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{Secret: &corev1.SecretProjection{LocalObjectReference: named(name), Optional: &optional}},
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: named(name), Optional: &optional}},
	}}}
}

func limitOf(container string) *corev1.ResourceFieldSelector {
	return &corev1.ResourceFieldSelector{ContainerName: container, Resource: "limits.cpu"}
}

func downward(container string) corev1.VolumeSource {
	return corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{Path: "cpu", ResourceFieldRef: limitOf(container)}}}}
}

func image(name string, policy corev1.PullPolicy) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Image, p.Spec.Containers[0].ImagePullPolicy = name, policy
	}
}

func requests(name corev1.ResourceName, amount string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{name: resource.MustParse(amount)}
	}
}

func on(node string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func hostPort(p *corev1.Pod) {
	p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 8080}}
}

// put makes a Secret and a ConfigMap of one name and key.
func put(t *testing.T, client kubernetes.Interface, name, key string) {
	meta := metav1.ObjectMeta{Name: name}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{key: "-"}}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{key: "-"}}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// drop removes both.
func drop(t *testing.T, client kubernetes.Interface, name string) {
	if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if err := client.CoreV1().Secrets("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// gain gives them one more key.
func gain(t *testing.T, client kubernetes.Interface, name, key string) {
	patch := fmt.Appendf(nil, `{"data":{%q:"LQ=="}}`, key)
	if _, err := client.CoreV1().ConfigMaps("default").Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := client.CoreV1().Secrets("default").Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
}

// annotate sets a pod's annotation, or removes it if the value is empty.
func annotate(t *testing.T, client kubernetes.Interface, pod, key, value string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value)
	if value == "" {
		patch = fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, key)
	}
	if _, err := client.CoreV1().Pods("default").Patch(t.Context(), pod, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitEvent is the Event of a pod with that reason.
func awaitEvent(t *testing.T, client kubernetes.Interface, pod, reason string) (found corev1.Event) {
	t.Helper()
	of := fields.Set{"involvedObject.name": pod, "reason": reason}.AsSelector()
	until(t, cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "events", "default", of), &corev1.Event{}, never, func(e watch.Event) (bool, error) {
		event, ok := e.Object.(*corev1.Event)
		if ok {
			found = *event
		}
		return ok, nil
	})
	return found
}
