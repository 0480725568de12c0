package simnode

import (
	"context"
	"errors"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/ephemeral"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"github.com/slipway-dev/slipway/cluster/simnode/needs"
	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// Images are those in the cluster's own registry.
type Images interface {
	// Has says whether an image is there, by the name that a pod gives it.
	Has(ref string) bool
	// Follow has f called whenever one has come, until ctx ends.
	Follow(ctx context.Context, f func())
}

// Indexes of the pods.
const (
	byNode      = "node"      // the pods of a node
	bySecret    = "secret"    // the pods that refer to a Secret, by its key
	byConfigMap = "configmap" // the same for a ConfigMap
	byClaim     = "claim"     // the same for a PersistentVolumeClaim
)

func podIndexers() cache.Indexers {
	return cache.Indexers{
		byNode: func(o any) ([]string, error) { return []string{o.(*corev1.Pod).Spec.NodeName}, nil },
		bySecret: func(o any) ([]string, error) {
			return referred(o.(*corev1.Pod), podutil.VisitPodSecretNames), nil
		},
		byConfigMap: func(o any) ([]string, error) {
			return referred(o.(*corev1.Pod), podutil.VisitPodConfigmapNames), nil
		},
		byClaim: func(o any) ([]string, error) {
			return referred(o.(*corev1.Pod), visitPodClaimNames), nil
		},
	}
}

// visitPodClaimNames visits the names of a pod's claims.
func visitPodClaimNames(pod *corev1.Pod, visit podutil.Visitor) bool {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.PersistentVolumeClaim != nil && !visit(v.PersistentVolumeClaim.ClaimName) || v.Ephemeral != nil && !visit(ephemeral.VolumeClaimName(pod, v)) {
			return false
		}
	}
	return true
}

func referred(pod *corev1.Pod, visit func(*corev1.Pod, podutil.Visitor) bool) []string {
	var keys []string
	visit(pod, func(name string) bool {
		keys = append(keys, pod.Namespace+"/"+name)
		return true
	})
	return keys
}

// sources knows the Secrets and ConfigMaps of the cluster, without what is in them, claims and volumes, and who waits
// for one.
type sources struct {
	client              kubernetes.Interface
	images              Images // nil for none
	secrets, configMaps cache.SharedIndexInformer
	claims, volumes     cache.SharedIndexInformer
}

func newSources(client kubernetes.Interface, images Images, wake func(index, key string)) *sources {
	s := &sources{
		client: client, images: images,
		secrets:    coreinformers.NewSecretInformer(client, metav1.NamespaceAll, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		configMaps: coreinformers.NewConfigMapInformer(client, metav1.NamespaceAll, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		claims:     coreinformers.NewPersistentVolumeClaimInformer(client, metav1.NamespaceAll, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		volumes:    coreinformers.NewPersistentVolumeInformer(client, 0, cache.Indexers{}),
	}
	for _, each := range []struct {
		cache.SharedIndexInformer
		index string
		key   cache.KeyFunc // in the index
	}{
		{s.secrets, bySecret, cache.DeletionHandlingMetaNamespaceKeyFunc}, {s.configMaps, byConfigMap, cache.DeletionHandlingMetaNamespaceKeyFunc},
		{s.claims, byClaim, cache.DeletionHandlingMetaNamespaceKeyFunc}, {s.volumes, byClaim, claimOf},
	} {
		// Neither call fails on an informer that has not started.
		_ = each.SetTransform(keysOnly)
		changed := func(o any) {
			if key, err := each.key(o); err == nil {
				wake(each.index, key)
			}
		}
		_, _ = each.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: changed, UpdateFunc: func(_, o any) { changed(o) }, DeleteFunc: changed,
		})
	}
	return s
}

// all are the informers.
func (s *sources) all() []cache.SharedIndexInformer {
	return []cache.SharedIndexInformer{s.secrets, s.configMaps, s.claims, s.volumes}
}

var errUnclaimed = errors.New("no claim")

// claimOf is the key of the claim that a volume is bound to.
func claimOf(o any) (string, error) {
	if d, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = d.Obj
	}
	v, ok := o.(*corev1.PersistentVolume)
	if !ok || v.Spec.ClaimRef == nil {
		return "", errUnclaimed
	}
	return v.Spec.ClaimRef.Namespace + "/" + v.Spec.ClaimRef.Name, nil
}

// keysOnly drops the contents of a Secret or ConfigMap, which no pod reads here, and what no check reads of others.
func keysOnly(o any) (any, error) {
	switch o := o.(type) {
	case *corev1.PersistentVolumeClaim:
		o.ManagedFields = nil
	case *corev1.PersistentVolume:
		o.ManagedFields = nil
	case *corev1.Secret:
		o.ManagedFields = nil
		emptied(o.Data)
	case *corev1.ConfigMap:
		o.ManagedFields = nil
		emptied(o.Data)
		emptied(o.BinaryData)
	}
	return o, nil
}

func emptied[V any](data map[string]V) {
	var empty V
	for key := range maps.Clone(data) {
		data[key] = empty
	}
}

// missing is what a pod lacks. What is not known yet is asked for: the pod may have been heard of before a Secret that
// was made before it.
func (s *sources) missing(ctx context.Context, pod *corev1.Pod, plan stage.Plan) (stage.Missing, error) {
	hasImage := func(container, image string) bool {
		return plan.Of(container).HasImage || s.images != nil && s.images.Has(image)
	}
	missing, err := s.known(hasImage).Missing(pod)
	if err != nil || missing.None() {
		return missing, err
	}
	return s.live(ctx, hasImage).Missing(pod)
}

func (s *sources) known(hasImage func(container, image string) bool) needs.Sources {
	secrets, configMaps := corelisters.NewSecretLister(s.secrets.GetIndexer()), corelisters.NewConfigMapLister(s.configMaps.GetIndexer())
	claims, volumes := corelisters.NewPersistentVolumeClaimLister(s.claims.GetIndexer()), corelisters.NewPersistentVolumeLister(s.volumes.GetIndexer())
	return needs.Sources{
		Secret: func(namespace, name string) (*corev1.Secret, error) { return secrets.Secrets(namespace).Get(name) },
		ConfigMap: func(namespace, name string) (*corev1.ConfigMap, error) {
			return configMaps.ConfigMaps(namespace).Get(name)
		},
		Claim: func(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
			return claims.PersistentVolumeClaims(namespace).Get(name)
		},
		Volume:   volumes.Get,
		HasImage: hasImage,
	}
}

func (s *sources) live(ctx context.Context, hasImage func(container, image string) bool) needs.Sources {
	return needs.Sources{
		Secret: func(namespace, name string) (*corev1.Secret, error) {
			return s.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		ConfigMap: func(namespace, name string) (*corev1.ConfigMap, error) {
			return s.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		Claim: func(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
			return s.client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		Volume: func(name string) (*corev1.PersistentVolume, error) {
			return s.client.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
		},
		HasImage: hasImage,
	}
}
