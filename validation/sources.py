"""Values of the literature, with their sources."""

import math

# Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387, tables I and II, by public transcriptions: u on x = 1/2, v on y = 1/2. Two
# misprints of table I are as all later work reads them: -0.08664 for -0.86636 (Re 3200) and -0.03111 for 0.03111 (Re 10000).
GHIA_Y = [0.0547, 0.0625, 0.0703, 0.1016, 0.1719, 0.2813, 0.4531, 0.5, 0.6172, 0.7344, 0.8516, 0.9531, 0.9609, 0.9688, 0.9766]
GHIA_X = [0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5, 0.8047, 0.8594, 0.9063, 0.9453, 0.9531, 0.9609, 0.9688]
GHIA = {
    1000: (
        [-0.18109, -0.20196, -0.22220, -0.29730, -0.38289, -0.27805, -0.10648, -0.06080, 0.05702, 0.18719, 0.33304, 0.46604, 0.51117, 0.57492, 0.65928],
        [0.27485, 0.29012, 0.30353, 0.32627, 0.37095, 0.33075, 0.32235, 0.02526, -0.31966, -0.42665, -0.51550, -0.39188, -0.33714, -0.27669, -0.21388],
    ),
    3200: (
        [-0.32407, -0.35344, -0.37827, -0.41933, -0.34323, -0.24427, -0.08664, -0.04272, 0.07156, 0.19791, 0.34682, 0.46101, 0.46547, 0.48296, 0.53236],
        [0.39560, 0.40917, 0.41906, 0.42768, 0.37119, 0.29030, 0.28188, 0.00999, -0.31184, -0.37401, -0.44307, -0.54053, -0.52357, -0.47425, -0.39017],
    ),
    5000: (
        [-0.41165, -0.42901, -0.43643, -0.40435, -0.33050, -0.22855, -0.07404, -0.03039, 0.08183, 0.20087, 0.33556, 0.46036, 0.45992, 0.46120, 0.48223],
        [0.42447, 0.43329, 0.43648, 0.42951, 0.35368, 0.28066, 0.27280, 0.00945, -0.30018, -0.36214, -0.41442, -0.52876, -0.55408, -0.55069, -0.49774],
    ),
    10000: (
        [-0.42735, -0.42537, -0.41657, -0.38000, -0.32709, -0.23186, -0.07540, -0.03111, 0.08344, 0.20673, 0.34635, 0.47804, 0.48070, 0.47783, 0.47221],
        [0.43983, 0.43733, 0.43124, 0.41487, 0.35070, 0.28003, 0.27224, 0.00831, -0.30719, -0.36737, -0.41496, -0.45863, -0.49099, -0.52987, -0.54302],
    ),
}
# Botella & Peyret, Comput. Fluids 27 (1998) 421: Re 1000, spectral, at the places of Ghia et al., by a public transcription.
BOTELLA_U = [-0.1812881, -0.2023300, -0.2228955, -0.3004561, -0.3885691, -0.2803696, -0.1081999, -0.0620561, 0.0570178, 0.1886747, 0.3372212, 0.4723329, 0.5169277, 0.5808359, 0.6644227]
BOTELLA_V = [0.2807056, 0.2962703, 0.3099097, 0.3330442, 0.3769189, 0.3339924, 0.3253592, 0.0257995, -0.3202137, -0.4264545, -0.5264392, -0.4103754, -0.3553213, -0.2936869, -0.2279225]
# Erturk, Corke & Gokcol, Int. J. Numer. Meth. Fluids 48 (2005) 747, 601 x 601: pairs (y, u) and (x, v), by a public transcription.
ERTURK_Y = [0.98, 0.97, 0.96, 0.94, 0.92, 0.9, 0.5, 0.2, 0.16, 0.12, 0.1, 0.08, 0.06, 0.04, 0.02]
ERTURK_X = [0.985, 0.97, 0.955, 0.94, 0.925, 0.91, 0.88, 0.85, 0.5, 0.15, 0.12, 0.09, 0.06, 0.03, 0.015]
ERTURK = {
    1000: (
        [0.7065, 0.5917, 0.5102, 0.4276, 0.3993, 0.3838, -0.0620, -0.3756, -0.3854, -0.3381, -0.2960, -0.2472, -0.1951, -0.1392, -0.0757],
        [-0.0973, -0.2173, -0.3400, -0.4417, -0.5052, -0.5263, -0.4803, -0.4028, 0.0258, 0.3756, 0.3605, 0.3273, 0.2746, 0.1792, 0.1019],
    ),
    5000: (
        [0.5159, 0.4749, 0.4739, 0.4683, 0.4452, 0.4155, -0.0319, -0.3100, -0.3467, -0.3876, -0.4168, -0.4419, -0.4272, -0.3480, -0.2223],
        [-0.2441, -0.5019, -0.5700, -0.5139, -0.4595, -0.4318, -0.3982, -0.3624, 0.0117, 0.3699, 0.4070, 0.4403, 0.4258, 0.3263, 0.2160],
    ),
    10000: (
        [0.4837, 0.4891, 0.4917, 0.4711, 0.4398, 0.4095, -0.0268, -0.2998, -0.3361, -0.3721, -0.3899, -0.4142, -0.4469, -0.4259, -0.2907],
        [-0.3419, -0.5712, -0.5124, -0.4592, -0.4411, -0.4256, -0.3895, -0.3538, 0.0088, 0.3562, 0.3885, 0.4247, 0.4566, 0.3844, 0.2756],
    ),
}
# Albensoeder & Kuhlmann, J. Comput. Phys. 206 (2005) 536, tables 5 and 6: the cube at Re 1000, spectral, by a public transcription; their
# (x, y, v, u) is here (1/2 - y, x - 1/2, u, -v).
CUBE_Y = [0.9766, 0.9688, 0.9609, 0.9531, 0.8516, 0.7344, 0.6172, 0.5, 0.4531, 0.2813, 0.1719, 0.1016, 0.0703, 0.0625, 0.0547]
CUBE_U = [0.58964, 0.48443, 0.39821, 0.33171, 0.12183, 0.07334, 0.03905, 0.00802, -0.00612, -0.10999, -0.25160, -0.27293, -0.23696, -0.22283, -0.20623]
CUBE_X = [0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5, 0.8047, 0.8594, 0.9063, 0.9453, 0.9531, 0.9609, 0.9688]
CUBE_V = [0.21738, 0.22746, 0.23503, 0.24407, 0.22924, 0.17580, 0.16987, 0.03674, -0.15223, -0.31117, -0.43423, -0.33511, -0.29032, -0.24095, -0.18864]

# J26 (Jaber, Essel & Sullivan 2026), tables 8(b) and 9(b): by levels and scheme, C_D, amplitude of C_L, St.
J26 = {
    "circle": {
        (2, "bounce-back"): (1.39, 0.345, 0.161), (2, "linear"): (1.36, 0.314, 0.162),
        (3, "bounce-back"): (1.36, 0.340, 0.164), (3, "linear"): (1.35, 0.328, 0.164),
        (4, "bounce-back"): (1.35, 0.334, 0.164), (4, "linear"): (1.34, 0.328, 0.165),
        (5, "bounce-back"): (1.34, 0.330, 0.165), (5, "linear"): (1.34, 0.327, 0.165),
    },
    "square": {
        (2, "bounce-back"): (1.45, 0.262, 0.143), (2, "linear"): (1.46, 0.262, 0.143),
        (3, "bounce-back"): (1.44, 0.255, 0.144), (3, "linear"): (1.46, 0.262, 0.142),
        (4, "bounce-back"): (1.44, 0.255, 0.143), (4, "linear"): (1.45, 0.256, 0.143),
        (5, "bounce-back"): (1.44, 0.252, 0.143), (5, "linear"): (1.44, 0.252, 0.143),
    },
}
# What J26 cites, tables 8(a) and 9(a): least and greatest.
SPREAD = {
    "circle": ((1.33, 1.35), (0.276, 0.339), (0.164, 0.175)),
    "square": ((1.51, 1.52), (0.194, 0.277), (0.147, 0.159)),
}


def sphere_drag(re):
    """Mikhailov & Freire, Powder Technol. 237 (2013) 432: their fit to the measurements of Brown & Lawler."""
    top = 3808 * (1617933 / 2030 + 178861 / 1063 * re + 1219 / 1084 * re * re)
    low = 681 * re * (77531 / 422 + 13529 / 976 * re - re * re / 71154)
    return top / low


def sphere_drag_clift(re):
    """Clift, Grace & Weber, Bubbles, Drops, and Particles (1978), table 5.2: 0.01 < Re <= 20."""
    return 24 / re * (1 + 0.1315 * re ** (0.82 - 0.05 * math.log10(re)))


# Schaefer & Turek 1996 (benchmark of flow around a cylinder), by their later precise values: C_D, C_L, pressure difference of 2D-1 and
# 3D-1Z, and of 2D-2 St, greatest C_D and C_L.
TUREK_2D_1 = (5.5795, 0.010619, 0.11752)
TUREK_2D_2 = (0.3019, 3.2273, 1.0040)
TUREK_3D_1Z = (6.18533, 0.009401)
# Taylor & Green's vortex at Re 1600, a spectral run on 512^3: energy E(t) with E(0) = 1/8, and the greatest -dE/dt with its time.
VORTEX_ENERGY = {5.0: 0.11844, 9.0: 0.08640, 10.0: 0.07448, 15.0: 0.03644}
VORTEX_PEAK = (0.012858, 8.97)
# The same at Re 100 by spectral.py with 48^3 points; with 64^3 the peak is the same to 6e-5.
VORTEX_ENERGY_100 = {2.1: 0.1081113, 4.9: 0.07526155, 7.0: 0.04968486}
VORTEX_PEAK_100 = (0.0129754, 4.89)
# Clercx & Bruneau, Comput. Fluids 35 (2006) 245: a dipole that meets a wall head on. By Reynolds number, enstrophy and time of its first
# two peaks, of their spectral runs.
DIPOLE = {
    625: ((933.6, 0.3711), (305.2, 0.6479)),
    1250: ((1899.0, 0.3414), (725.3, 0.6162)),
    2500: ((3313.0, 0.3279), (1418.0, 0.6089)),
}
# Moser, Kim & Mansour, Phys. Fluids 11 (1999) 943: a channel at a friction Reynolds number of 180, in units of the friction velocity:
# bulk velocity (Kim, Moin & Moser 1987), velocity on the axis, greatest rms of each component, and y+ of that along the flow.
CHANNEL_180 = {"bulk": 15.63, "axis": 18.30, "u": 2.66, "v": 0.84, "w": 1.07, "y": 15.0}
# Rodriguez, Borell, Lehmkuhl, Perez Segarra & Oliva, J. Fluid Mech. 679 (2011) 263: a sphere at Re 3700, resolved.
SPHERE_3700 = {"drag": 0.394, "strouhal": 0.215}
# Lehmkuhl, Rodriguez, Borrell & Oliva, Phys. Fluids 25 (2013) 085109: a circular cylinder at Re 3900, resolved; means over both states of its
# wake. The least velocity on the axis: Parnaudeau, Carlier, Heitz & Lamballais, Phys. Fluids 20 (2008) 085101, measured.
CIRCLE_3900 = {"drag": 1.015, "strouhal": 0.215, "base": -0.935, "bubble": 1.36, "least": -0.34}
# Lee & Moser, J. Fluid Mech. 774 (2015) 395: a channel at a friction Reynolds number of 1000.5 has a bulk Reynolds number of 20,000 by the half
# height; the logarithmic layer with the constants that they fit at 5200.
CHANNEL_1000 = {"bulk": 19.99, "kappa": 0.384, "b": 4.27}
# Clift, Grace & Weber (1978), table 5.2, for 1500 < Re <= 12,000: log C_D = -2.4571 + 2.5558 w - 0.9295 w^2 + 0.1049 w^3, w = log Re.
SPHERE_8000 = {"drag": 0.394}
# Rodriguez, Lehmkuhl, Borell & Oliva, Comput. Fluids 80 (2013) 233: a sphere at Re 10,000, resolved.
SPHERE_10000 = {"drag": 0.402}
# Achenbach, J. Fluid Mech. 54 (1972) 565: a smooth sphere at Re 10^6, beyond the drag crisis, read off figure 4; coarse flows do not have it.
SPHERE_MILLION = {"drag": 0.12}
# Ahmed, Ramm & Faltin, SAE 840300 (1984), figure 12: drag by slant, with stilts.
AHMED = {12.5: 0.230, 25: 0.285, 35: 0.260}
# Duetsch, Durst, Becker & Lienhart, J. Fluid Mech. 360 (1998) 249: KC 5, Re 100: coefficients of drag and of added mass.
DUETSCH = (2.09, 1.45)
# Guilmineau & Queutey, J. Fluids Struct. 16 (2002) 773: a circle at rest at Re 185: C_D, amplitude of C_L (its rms is 0.443), St. Lu & Dalton,
# J. Fluids Struct. 10 (1996) 527, have 1.31, an rms of 0.422, and 0.195.
CIRCLE_185 = (1.287, 0.626, 0.195)
# A circle that oscillates along the stream at Re 100 with 0.14 diameters and twice the frequency of shedding: of several authors, from Hurlbut,
# Spaulding & White (1982) to Su, Lai & Lin (2007), C_D is 1.68 to 1.70 and C_L 0.95 to 0.97; shedding is locked to half the frequency.
INLINE = (1.69, 0.96, 0.165)
# Park, Kwon & Choi, KSME Int. J. 12 (1998) 1200: mean C_D, amplitude of C_L and Strouhal number of a circle at Re 100.
CIRCLE_100 = (1.33, 0.332, 0.165)
# Kang, Choi & Lee, Phys. Fluids 11 (1999) 3312: mean C_D and C_L of a circle at Re 100 whose surface has the speed of the stream, and which
# still sheds vortices.
TURNING = (1.1040, -2.4881)
# ten Cate, Nieuwstad, Derksen & van den Akker, Phys. Fluids 14 (2002) 4012: density, viscosity in m2/s, speed in unbounded oil, seconds to
# compute, measured largest speed.
TEN_CATE = {
    "e1": (970, 3.845361e-4, 0.038, 1.8, 0.03599),
    "e2": (965, 2.196891e-4, 0.060, 1.5, 0.05718),
    "e3": (962, 1.174636e-4, 0.091, 1.15, 0.08727),
    "e4": (960, 6.042e-5, 0.128, 0.95, 0.12224),
}
# Lai et al. (2023), as Yu & Zhao (2025) print it: time of the contact, s, and speed at it, m/s.
LAI_KISSING = (0.31, 0.07139)
# Zick & Homsy, J. Fluid Mech. 115 (1982) 13: drag of a simple cubic array over Stokes', by share of the volume, table 2.
ZICK_HOMSY = {0.064: 2.810, 0.125: 4.292, 0.343: 15.4}
# Kinsey & Dumas, AIAA J. 46 (2008) 1318: power coefficient of a NACA 0015 at Re 1100.
KINSEY = 0.86
# Hysing et al., Int. J. Numer. Meth. Fluids 60 (2009) 1259: time and value, by the series of one of its groups.
HYSING_1 = {"circularity": (1.900, 0.90125), "velocity": (0.924, 0.24166), "centre": 1.0817}
HYSING_2 = {"first": (0.732, 0.2502), "second": (2.060, 0.2393), "centre": 1.1376, "circularity": (0.690, 0.514), "after": (0.465, 0.587)}
# Popinet, J. Comput. Phys. 228 (2009) 5838, and the tests of his program: errors of capillary waves by cells a wave.
POPINET_WAVE = {8: 0.139, 16: 0.0242, 32: 0.0064, 64: 0.0023}
# Drops at rest, by the same method in a program of its own: Laplace number, ratio of densities, time, largest velocity √(ρD/σ).
POPINET_DROP = [(120, 1, 2.77, 6e-11), (12000, 1, 3.1, 9e-8), (12000, 1000, 43.6, 4e-4)]
# Martin & Moyce, Phil. Trans. R. Soc. A 244 (1952) 312, by public transcriptions: front over the width by t √(2g/a), and height over that at
# the start by t √(g/a), of a column of 2.25 inches that is twice as high.
DAM_FRONT = [(1.19, 1.44), (1.98, 2.33), (2.51, 3.00), (2.98, 3.67), (3.33, 4.11)]
# Koshizuka & Oka, Nucl. Sci. Eng. 123 (1996) 421, the same front of a column of 0.146 m that is twice as high, by a public transcription.
KOSHIZUKA_FRONT = [(0.769, 1.252), (1.153, 1.505), (1.537, 1.892), (1.935, 2.241), (2.323, 2.615), (2.719, 3.003), (3.096, 3.624)]
DAM_HEIGHT = [(0.77, 0.89), (1.28, 0.72), (1.84, 0.56)]
# De Vahl Davis, Int. J. Numer. Meth. Fluids 3 (1983) 249, the bench mark solution: mean Nusselt number by Rayleigh number, Prandtl 0.71.
CAVITY_NUSSELT = {1e3: 1.118, 1e4: 2.243, 1e5: 4.519, 1e6: 8.800}
# Bharti, Chhabra & Eswaran, Heat Mass Transfer 43 (2007) 639: mean Nusselt number of a cylinder at one temperature by Reynolds number,
# Prandtl 0.7.
CYLINDER_NUSSELT = {20: 2.4653, 40: 3.2825}
