/* Potentials of charge distributions on a GPU. */
#include "potential_checks.h"

int main(void)
{
    unsigned long long seed = 90211;
    fmo_potential_options o;
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    fmo_potential_options_init(&o);
    o.mode = FMO_MODE_FUSED;
    for (int d = 0; d <= 3; d += 3)
        for (int again = 0; again < 3; again++) potential_check_all(&o, d, &seed);
    /* dealt to several: one taken three times, then all there are */
    o.device_num = 3;
    potential_check_all(&o, 3, &seed);
    const int gpus = fmo_gpu_num();
    o.device_num = gpus < FMO_DEVICES_MAX ? gpus : FMO_DEVICES_MAX;
    for (int g = 0; g < o.device_num; g++) o.devices[g] = g;
    potential_check_all(&o, 3, &seed);
    printf("%d GPUs\n", gpus);
    return check_summary();
}
