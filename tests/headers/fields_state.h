/* The valid state of fields.c: values of all structs with which every call succeeds; included there
 * alone. */
#ifndef FMO_TESTS_FIELDS_STATE_H
#define FMO_TESTS_FIELDS_STATE_H

/* Gives the structs that describe molecules and fragments valid values. */
static void fill_input(void)
{
    of_fmo_basis_input = (fmo_basis_input){
        .nucleus_num = 2,
        .nucleus_charge = REALS_OF(1.0, 1.0),
        .nucleus_coord = REALS_OF(0.0, 0.0, 0.0, 0.0, 0.0, 1.4),
        .shell_num = 2,
        .shell_nucleus = WHOLES_OF(0, 1),
        .shell_ang_mom = WHOLES_OF(0, 0),
        .prim_num = 2,
        .prim_shell = WHOLES_OF(0, 1),
        .prim_exponent = REALS_OF(0.4, 0.4),
        .prim_coefficient = REALS_OF(0.4, 0.4),
        .ao_num = 2,
        .ao_shell = WHOLES_OF(0, 1),
        .ao_component = WHOLES_OF(0, 0),
        .ao_factor = REALS_OF(1.0, 1.0),
    };
    of_fmo_molecule = (fmo_molecule){.nucleus_num = 2,
                                     .number = WHOLES_OF(1, 1),
                                     .coord = REALS_OF(0.0, 0.0, 0.0, 0.0, 0.0, 1.4),
                                     .ghost = WHOLES_OF(0, 0),
                                     .path = keep("h2.xyz", 7),
                                     .multiplicity = 1};
    of_fmo_atom_label = (fmo_atom_label){"H1", "LIG", "401", 'A', 1};
    const fmo_atom_label labels[4] = {of_fmo_atom_label,
                                      {"H2", "LIG", "401", 'A', 1},
                                      {"H1", "LIG", "402", 'A', 1},
                                      {"", "", "", ' ', 0}};
    of_fmo_fragment_system = (fmo_fragment_system){
        .label = keep(labels, sizeof labels),
        .atom_num = 4,
        .number = WHOLES_OF(1, 1, 1, 1),
        .coord = REALS_OF(0.0, 0.0, 0.0, 0.0, 0.0, 1.4, 5.0, 0.0, 0.0, 5.0, 0.0, 1.4),
        .fragment = WHOLES_OF(0, 0, 1, 1),
        .fragment_num = 2,
        .charge = WHOLES_OF(0, 0),
        .bond = WHOLES_OF(0, 2),
        .aoc_from = 0.0,
        .ptc_from = 2.0,
        .es_dimers_from = 2.0,
        .bohr = FMO_FRAGMENT_BOHR,
        .reference = NAN,
        .path = keep("h4.json", 8)};
}

/* Gives all options, and a network of one rank, valid values. */
static void fill_options(void)
{
    fmo_fock_options_init(&of_fmo_fock_options);
    of_fmo_fock_options.mode = FMO_MODE_CPU;
    of_fmo_fock_options.threads = 1;
    fmo_potential_options_init(&of_fmo_potential_options);
    of_fmo_potential_options.threads = 1;
    fmo_scf_options_init(&of_fmo_scf_options);
    fmo_fragment_options_init(&of_fmo_fragment_options);
    fmo_gmpi_options_init(&of_fmo_gmpi_options);
    of_fmo_gmpi_net = (fmo_gmpi_net){.size = 1, .destroy = no_destroy};
    of_fmo_ranks = (fmo_ranks){.size = 1,
                               .node_size = 1,
                               .cores = 1,
                               .broadcast = no_broadcast,
                               .first = no_first,
                               .sum = no_sum,
                               .send = no_send,
                               .receive = no_receive,
                               .restart = no_restart,
                               .next = no_next};
}

/* Gives the jobs of builds, potentials and SCFs valid values. */
static void fill_jobs(void)
{
    for (int i = 0; i < 4; i++) J[i] = K[i] = untouched;
    of_fmo_operator = (fmo_operator){1.0, -1.0, 0.3};
    of_fmo_fock_job = (fmo_fock_job){
        .plan = plan, .density = REALS_OF(0.6, 0.6, 0.6, 0.6), .coulomb = J, .exchange = K};
    of_fmo_gradient_term = (fmo_gradient_term){
        .density = REALS_OF(0.6, 0.6, 0.6, 0.6), .coulomb_weight = 1.0, .exchange_weight = 1.0};
    of_fmo_gradient_job = (fmo_gradient_job){
        .plan = plan, .terms = &of_fmo_gradient_term, .term_num = 1, .gradient = gradient};
    of_fmo_distribution_job =
        (fmo_distribution_job){.products = products,
                               .density = REALS_OF(0.6, 0.6, 0.6, 0.6),
                               .charge_num = 2,
                               .charge = REALS_OF(1.0, 1.0),
                               .coord = REALS_OF(0.0, 0.0, 0.0, 0.0, 0.0, 1.4)};
    of_fmo_potential_job = (fmo_potential_job){.products = products,
                                               .source = (const fmo_distribution *const *)charges,
                                               .weight = REALS_OF(1.0),
                                               .source_num = 1,
                                               .charge = REALS_OF(1.0, 1.0),
                                               .coord = REALS_OF(3.0, 0.0, 0.0, 3.0, 0.0, 1.4),
                                               .charge_num = 2,
                                               .potential = J};
    of_fmo_electrostatics_job = (fmo_electrostatics_job){.a = charges[0], .b = charges[1]};
    of_fmo_scf_input = (fmo_scf_input){.basis = basis,
                                       .electron_num = 2,
                                       .core_hamiltonian = REALS_OF(-1.1, -1.0, -1.0, -1.1),
                                       .nuclear_repulsion = 1.0 / 1.4,
                                       .density = REALS_OF(0.6, 0.6, 0.6, 0.6),
                                       .field = REALS_OF(0.1, 0.0, 0.0, 0.1),
                                       .projector = REALS_OF(0.0, 0.0, 0.0, 0.0)};
    memset(&of_fmo_scf_job, 0x5a, sizeof of_fmo_scf_job); /* the call writes what it holds */
}

/* Gives the results that writers take valid values. */
static void fill_results(void)
{
    const double *const M = REALS_OF(1.0, 0.5, 0.5, 1.0);
    of_fmo_result = (fmo_result){2, M, M, M, M, -1.0, "cpu", 1e-10};
    of_fmo_result_array = (fmo_result_array){"x", "hartree", 2, {2, 2}, M, NULL, NULL};
    of_fmo_molecule_result = (fmo_molecule_result){.input = "h2.xyz",
                                                   .mode = "cpu",
                                                   .status = "converged",
                                                   .converged = 1,
                                                   .cycles = 5,
                                                   .energy = -1.0,
                                                   .nao = 2,
                                                   .mo_num = 2,
                                                   .occupied_num = 1,
                                                   .orbital_energy = REALS_OF(-0.5, 0.5),
                                                   .coefficient = M,
                                                   .density = M,
                                                   .comment = "hydrogen",
                                                   .method = "UHF",
                                                   .multiplicity = 1,
                                                   .occupied_beta_num = 1,
                                                   .orbital_energy_beta = REALS_OF(-0.5, 0.5),
                                                   .coefficient_beta = M,
                                                   .spin_density = M};
    of_fmo_wavefunction = (fmo_wavefunction){.mo_num = 2,
                                             .coefficient = M,
                                             .energy = REALS_OF(-0.5, 0.5),
                                             .occupation = REALS_OF(2.0, 0.0),
                                             .overlap = M,
                                             .core_hamiltonian = M,
                                             .total_energy = -1.0,
                                             .converged = 1,
                                             .method = "RHF",
                                             .point_charge_num = 2,
                                             .point_charge = REALS_OF(0.4, -0.4),
                                             .point_charge_coord = REALS_OF(9, 0, 0, 0, 9, 0),
                                             .point_charge_gradient = REALS_OF(0, 0, 0, 0, 0, 0)};
    of_fmo_fragment_pair = (fmo_fragment_pair){.i = 0, .j = 1, .is_scf = 1, .distance = 1.5};
    const fmo_fragment_monomer monomer[2] = {{.nao = 2,
                                              .electron_num = 2,
                                              .energy = -1.0,
                                              .atom_num = 2,
                                              .atom = WHOLES_OF(0, 1),
                                              .charge = REALS_OF(1.0, 1.0)},
                                             {.nao = 2,
                                              .electron_num = 2,
                                              .energy = -1.0,
                                              .atom_num = 2,
                                              .atom = WHOLES_OF(2, 3),
                                              .charge = REALS_OF(1.0, 1.0)}};
    of_fmo_fragment_result = (fmo_fragment_result){.monomer = keep(monomer, sizeof monomer),
                                                   .fragment_num = 2,
                                                   .atom_num = 4,
                                                   .nao = 4,
                                                   .electron_num = 4,
                                                   .pair_num = 1,
                                                   .pair = &of_fmo_fragment_pair,
                                                   .charge1 = REALS_OF(0.0, 0.0, 0.0, 0.0),
                                                   .charge2 = REALS_OF(0.0, 0.0, 0.0, 0.0)};
}

static void fill(void)
{
    while (arrays) free(array[--arrays]);
    fill_input();
    fill_options();
    fill_jobs();
    fill_results();
}

#endif
