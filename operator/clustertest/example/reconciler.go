package example

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Reconciler makes a Job for every Task.
// +kubebuilder:object:generate=false
type Reconciler struct{ client.Client }

// Reconcile brings one Task's Job into being, and its status up to date.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var task Task
	if err := r.Get(ctx, req.NamespacedName, &task); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: task.Namespace, Name: task.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, job, func() error {
		if job.CreationTimestamp.IsZero() { // a Job's template cannot be changed
			job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "task", Image: task.Spec.Image, Command: task.Spec.Command}}}
		}
		return controllerutil.SetControllerReference(&task, job, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if done := job.Status.Succeeded > 0; done != task.Status.Done {
		task.Status.Done = done
		return ctrl.Result{}, r.Status().Update(ctx, &task)
	}
	return ctrl.Result{}, nil
}

// SetUp registers the reconciler and the webhooks with a manager.
func SetUp(mgr ctrl.Manager) error {
	if err := ctrl.NewWebhookManagedBy(mgr, &Task{}).WithDefaulter(defaulter{}).WithValidator(validator{}).Complete(); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).For(&Task{}).Owns(&batchv1.Job{}).Complete(&Reconciler{mgr.GetClient()})
}
