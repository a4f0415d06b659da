/* SPDX-License-Identifier: MIT */
#include "sync/lazy_lock.h"

void dz_lazy_lock_make(
    struct dz_lazy_lock *self, const struct dz_lazy_lock_type *type)
{
    if (self->state == DZ_LAZY_BEING_MADE)
        dz_object_misuse(self, &type->object,
            "a lazy lock is used by the function that makes its value");
    self->state = DZ_LAZY_BEING_MADE;
    type->make((char *)self + type->value);
    self->state = DZ_LAZY_MADE;
}
