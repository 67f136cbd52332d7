/* A program on the installed libfmo_fragment. */
#include <stdio.h>

#include <fmo/fragment.h>

int main(void)
{
    fmo_fragment_result *none = NULL;
    const fmo_status status = fmo_fragment_run(NULL, NULL, NULL, &none, NULL);
    if (status == FMO_ERR_ARGUMENT) return 0;
    fprintf(stderr, "without a system: %s\n", fmo_status_text(status));
    return 1;
}
