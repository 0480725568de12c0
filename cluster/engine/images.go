package engine

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"
)

// Images are the names of the images of all pods and workloads, of the main cluster and the logical ones: those that
// pods and pod templates ask for and, with digests, those that containers run. The next pod of a template may come at
// any time.
func (h *Host) Images(ctx context.Context) (names []string, err error) {
	for _, c := range append([]*Cluster{h.main}, h.Logical()...) {
		client, clientErr := kubernetes.NewForConfig(c.loopback())
		if clientErr != nil {
			err = errors.Join(err, clientErr)
			continue
		}
		found, listErr := imagesIn(ctx, client)
		names, err = append(names, found...), errors.Join(err, listErr)
	}
	return names, err
}

// imagesIn lists page by page: a cluster may have more pods than fit into one answer.
func imagesIn(ctx context.Context, client kubernetes.Interface) (names []string, err error) {
	core, apps, batch := client.CoreV1(), client.AppsV1(), client.BatchV1()
	for _, list := range []pager.ListPageFunc{
		page(core.Pods(all).List), page(core.ReplicationControllers(all).List), page(apps.Deployments(all).List), page(apps.ReplicaSets(all).List),
		page(apps.StatefulSets(all).List), page(apps.DaemonSets(all).List), page(batch.Jobs(all).List), page(batch.CronJobs(all).List),
	} {
		err = errors.Join(err, pager.New(list).EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
			names = append(names, imagesOf(object)...)
			return nil
		}))
	}
	return names, err
}

// all are all namespaces.
const all = metav1.NamespaceAll

// page is a client's list for a pager.
func page[List runtime.Object](list func(context.Context, metav1.ListOptions) (List, error)) pager.ListPageFunc {
	return func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) }
}

// imagesOf are those of a pod, or of the template of a workload.
func imagesOf(object runtime.Object) []string {
	switch o := object.(type) {
	case *corev1.Pod:
		return append(imagesOfSpec(&o.Spec), imagesOfStatus(&o.Status)...)
	case *corev1.ReplicationController:
		if o.Spec.Template != nil {
			return imagesOfSpec(&o.Spec.Template.Spec)
		}
	case *appsv1.Deployment:
		return imagesOfSpec(&o.Spec.Template.Spec)
	case *appsv1.ReplicaSet:
		return imagesOfSpec(&o.Spec.Template.Spec)
	case *appsv1.StatefulSet:
		return imagesOfSpec(&o.Spec.Template.Spec)
	case *appsv1.DaemonSet:
		return imagesOfSpec(&o.Spec.Template.Spec)
	case *batchv1.Job:
		return imagesOfSpec(&o.Spec.Template.Spec)
	case *batchv1.CronJob:
		return imagesOfSpec(&o.Spec.JobTemplate.Spec.Template.Spec)
	}
	return nil
}

func imagesOfSpec(spec *corev1.PodSpec) (names []string) {
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			names = append(names, containers[i].Image)
		}
	}
	for i := range spec.EphemeralContainers {
		names = append(names, spec.EphemeralContainers[i].Image)
	}
	for i := range spec.Volumes {
		if v := spec.Volumes[i].Image; v != nil {
			names = append(names, v.Reference)
		}
	}
	return names
}

func imagesOfStatus(status *corev1.PodStatus) (names []string) {
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses} {
		for i := range list {
			names = append(names, list[i].ImageID)
		}
	}
	return names
}
