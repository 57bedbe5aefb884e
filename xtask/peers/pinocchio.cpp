// Rigid dynamics of a closed robot on Pinocchio, from joint positions, rates and accelerations that are given:
//   legwise   inverse dynamics, each leg a chain of its own, reduced to the platform by its own small block
//   dense     inverse dynamics, rnea of the cut tree and one solve with the passive columns of all closures
//   ddm       constraintDynamics, and the articulated-body algorithm with loops, lcaba
// Closures are points (S; or R in a plane, of which two rows count). Header-only, so that -march=native is safe.

// What Pinocchio's own build sets.
#define BOOST_MPL_LIMIT_LIST_SIZE 30
#define BOOST_MPL_LIMIT_VECTOR_SIZE 30
#define BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
#define BOOST_FUSION_INVOKE_MAX_ARITY 12

#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "measure.hpp"

#include <array>

namespace pin = pinocchio;
using Eigen::Matrix;
using Eigen::Vector3d;
using Eigen::VectorXd;

static pin::SE3 frame(const json::value &x) { return pin::SE3(matrix3(x.at("R")), vector(x.at("p"))); }

static pin::Inertia inertia(const json::value &x) {
    const double m = x.at("mass").to_number<double>();
    const Vector3d ms = vector(x.at("first_moment"));
    if (m == 0.0) throw std::runtime_error("a body without mass: Pinocchio wants a centre of mass");
    const Vector3d c = ms / m;
    const Eigen::Matrix3d about_com = matrix3(x.at("inertia")) - m * (c.dot(c) * Eigen::Matrix3d::Identity() - c * c.transpose());
    return pin::Inertia(m, c, about_com);
}

static pin::JointIndex add(pin::Model &model, pin::JointIndex parent, const json::value &body) {
    const std::string name(body.at("name").as_string());
    const auto X = frame(body.at("frame"));
    const std::string joint(body.at("joint").as_string());
    if (joint != "R" && joint != "P") throw std::runtime_error("only R and P joints");
    const auto id = joint == "R" ? model.addJoint(parent, pin::JointModelRZ(), X, name)
                                 : model.addJoint(parent, pin::JointModelPZ(), X, name);
    model.appendBodyToJoint(id, inertia(body.at("inertia")), pin::SE3::Identity());
    model.armature[model.joints[id].idx_v()] = body.at("rotor").to_number<double>();
    return id;
}

static bool slides(const json::value &body) { return body.at("joint").as_string() == "P"; }

// One closure side: the joint that carries it (0: none), and where on it.
struct Side {
    pin::JointIndex joint;
    pin::SE3 X;
};

struct Robot {
    json::value file;
    bool planar;                      // closures count x and y only
    std::vector<int> coordinate;      // of each body
    std::vector<int> active, passive; // coordinates
    std::size_t states;

    explicit Robot(const char *path) : file(read(path)) {
        planar = file.at("platform").is_null();
        for (const auto &b : file.at("bodies").as_array()) coordinate.push_back(b.at("coordinate").to_number<int>());
        active = integers(file.at("active"));
        passive = integers(file.at("passive"));
        states = file.at("states").as_array().size();
    }
    const json::array &bodies() const { return file.at("bodies").as_array(); }
    const json::array &closures() const { return file.at("closures").as_array(); }
    const json::value &state(std::size_t i) const { return file.at("states").as_array()[i]; }
    VectorXd of(std::size_t i, const char *key) const { return vector(state(i).at(key)); }
};

// The tree with its loops cut, the platform a free body.
struct Tree {
    pin::Model model;
    pin::JointIndex platform = 0;
    std::vector<pin::JointIndex> joint_of; // of each body
    std::vector<int> place;                // of each coordinate
    std::vector<std::array<Side, 2>> closures;

    explicit Tree(const Robot &robot) {
        model.gravity.linear(vector(robot.file.at("gravity")));
        if (!robot.planar) {
            platform = model.addJoint(0, pin::JointModelFreeFlyer(), pin::SE3::Identity(), "platform");
            model.appendBodyToJoint(platform, inertia(robot.file.at("platform")), pin::SE3::Identity());
        }
        place.resize(robot.coordinate.size());
        for (std::size_t b = 0; b < robot.bodies().size(); ++b) {
            const auto &body = robot.bodies()[b];
            const auto &on = body.at("parent");
            joint_of.push_back(add(model, on.is_string() ? 0 : joint_of[on.to_number<int>()], body));
            place[robot.coordinate[b]] = model.joints[joint_of[b]].idx_v();
        }
        for (const auto &c : robot.closures()) {
            const auto side = [&](const json::value &s) {
                const auto &on = s.at("on");
                return Side{on.is_string() ? platform : joint_of[on.to_number<int>()], frame(s.at("frame"))};
            };
            closures.push_back({side(c.at("a")), side(c.at("b"))});
        }
    }

    VectorXd spread(const VectorXd &of, std::size_t size) const {
        VectorXd all = VectorXd::Zero(size);
        for (std::size_t c = 0; c < place.size(); ++c) all[place[c] + (size - model.nv)] = of[c];
        return all;
    }
    VectorXd q(const Robot &robot, std::size_t i) const {
        VectorXd all = spread(robot.of(i, "q"), model.nq);
        if (platform) {
            const auto X = frame(robot.state(i).at("platform"));
            all.head<3>() = X.translation();
            all.segment<4>(3) = Eigen::Quaterniond(X.rotation()).coeffs();
        }
        return all;
    }
    VectorXd v(const Robot &robot, std::size_t i) const {
        VectorXd all = spread(robot.of(i, "qd"), model.nv);
        if (platform) {
            const Eigen::Matrix3d R = matrix3(robot.state(i).at("platform").at("R"));
            const VectorXd V = robot.of(i, "twist");
            all.head<6>() << R.transpose() * V.head<3>(), R.transpose() * V.tail<3>();
        }
        return all;
    }
    // Pinocchio's acceleration of a free body is the derivative of its local twist.
    VectorXd a(const Robot &robot, std::size_t i, const char *joints, const char *body) const {
        VectorXd all = spread(robot.of(i, joints), model.nv);
        if (platform) {
            const Eigen::Matrix3d R = matrix3(robot.state(i).at("platform").at("R"));
            const VectorXd V = robot.of(i, "twist"), A = robot.of(i, body);
            const Vector3d v = V.head<3>(), w = V.tail<3>();
            all.head<6>() << R.transpose() * (A.head<3>() - w.cross(v)), R.transpose() * A.tail<3>();
        }
        return all;
    }
};

// ---- leg by leg -------------------------------------------------------------------------------------------------------

// D: rows of a closure and joints of a leg; N: freedoms of the platform.
template <int D, int N> struct LegWise {
    struct Leg {
        pin::Model model;
        pin::Data data;
        pin::SE3 tip;     // on the last joint
        Vector3d on_platform;
        std::vector<int> coordinates, kinds; // kinds: 1 slides
        int active = 0;                      // which of its joints
        int drive = 0;                       // its place among the efforts
    };
    struct LegState {
        Matrix<double, D, 1> q, v, a;
    };
    struct State {
        std::vector<LegState> legs;
        pin::SE3 platform;
        pin::Motion V, A;
    };
    std::vector<Leg> legs;
    pin::Inertia platform = pin::Inertia::Zero();
    Vector3d gravity;
    std::vector<State> states;

    explicit LegWise(const Robot &robot) : gravity(vector(robot.file.at("gravity"))) {
        if (N == 6) platform = inertia(robot.file.at("platform"));
        std::vector<int> leg_of(robot.bodies().size());
        for (std::size_t b = 0; b < robot.bodies().size(); ++b) {
            const auto &body = robot.bodies()[b];
            const auto &on = body.at("parent");
            if (on.is_string()) {
                legs.emplace_back();
                legs.back().model.gravity.linear(gravity);
            }
            leg_of[b] = on.is_string() ? legs.size() - 1 : leg_of[on.to_number<int>()];
            Leg &leg = legs[leg_of[b]];
            add(leg.model, leg.model.njoints - 1, body);
            const auto drive = std::find(robot.active.begin(), robot.active.end(), robot.coordinate[b]);
            if (drive != robot.active.end()) {
                leg.active = leg.coordinates.size();
                leg.drive = drive - robot.active.begin();
            }
            leg.coordinates.push_back(robot.coordinate[b]);
            leg.kinds.push_back(slides(body));
        }
        for (const auto &c : robot.closures()) {
            for (const char *key : {"a", "b"}) {
                const auto &side = c.at(key);
                if (side.at("on").is_string()) continue;
                Leg &leg = legs[leg_of[side.at("on").to_number<int>()]];
                leg.tip = frame(side.at("frame"));
                const auto &other = c.at(key[0] == 'a' ? "b" : "a");
                leg.on_platform = N == 6 ? Vector3d(vector(other.at("frame").at("p"))) : Vector3d::Zero();
            }
        }
        for (Leg &leg : legs) leg.data = pin::Data(leg.model);
        for (std::size_t i = 0; i < robot.states; ++i) states.push_back(state(robot, i));
    }

    State state(const Robot &robot, std::size_t i) const {
        State s;
        const VectorXd q = robot.of(i, "q"), v = robot.of(i, "qd"), a = robot.of(i, "qdd");
        for (const Leg &leg : legs) {
            LegState one;
            for (int j = 0; j < D; ++j) {
                one.q[j] = q[leg.coordinates[j]];
                one.v[j] = v[leg.coordinates[j]];
                one.a[j] = a[leg.coordinates[j]];
            }
            s.legs.push_back(one);
        }
        s.platform = frame(robot.state(i).at("platform"));
        s.V = pin::Motion(robot.of(i, "twist"));
        s.A = pin::Motion(robot.of(i, "acceleration"));
        return s;
    }

    // Leg: tau_rnea = e_a tau - J^T f. Platform: sum W f = w.  Hence  (sum W J^-T e_a) tau = w + sum W J^-T tau_rnea.
    Matrix<double, N, 1> efforts(const State &s) {
        Matrix<double, N, N> A;
        Matrix<double, N, 1> w = Matrix<double, N, 1>::Zero();
        if constexpr (N == 6) w = needed(s);
        for (std::size_t l = 0; l < legs.size(); ++l) {
            Leg &leg = legs[l];
            const auto &tau = pin::rnea(leg.model, leg.data, s.legs[l].q, s.legs[l].v, s.legs[l].a);
            const Matrix<double, D, D> J_inv = jacobian(leg).inverse();
            const Matrix<double, D, 1> per_effort = J_inv.row(leg.active).transpose();
            const Matrix<double, D, 1> per_tree = J_inv.transpose() * tau.template head<D>();
            if constexpr (N == 6) {
                const Vector3d r = s.platform.rotation() * leg.on_platform;
                A.col(leg.drive) << per_effort, r.cross(per_effort);
                w.template head<3>() += per_tree;
                w.template tail<3>() += r.cross(per_tree);
            } else {
                A.col(leg.drive) = per_effort;
                w += per_tree;
            }
        }
        return A.partialPivLu().solve(w);
    }

    // Velocity of the tip per joint rate, in world axes; from the transforms that rnea has left.
    Matrix<double, D, D> jacobian(const Leg &leg) const {
        pin::SE3 X[D];
        X[0] = leg.data.liMi[1];
        for (int j = 1; j < D; ++j) X[j] = X[j - 1] * leg.data.liMi[j + 1];
        const Vector3d p = X[D - 1].act(leg.tip.translation());
        Matrix<double, D, D> J;
        for (int j = 0; j < D; ++j) {
            const Vector3d z = X[j].rotation().col(2);
            const Vector3d column = leg.kinds[j] ? z : z.cross(p - X[j].translation());
            J.col(j) = column.template head<D>();
        }
        return J;
    }

    // Wrench of the platform at its origin, world axes.
    Matrix<double, 6, 1> needed(const State &s) const {
        const Eigen::Matrix3d &R = s.platform.rotation();
        const Vector3d w = R.transpose() * s.V.angular(), alpha = R.transpose() * s.A.angular();
        const Vector3d a = R.transpose() * (s.A.linear() - gravity), c = platform.lever();
        const Vector3d f = platform.mass() * (a + alpha.cross(c) + w.cross(w.cross(c)));
        const Vector3d m = platform.inertia() * alpha + w.cross(platform.inertia() * w) + c.cross(f);
        Matrix<double, 6, 1> out;
        out << R * f, R * m;
        return out;
    }
};

// ---- dense ------------------------------------------------------------------------------------------------------------

// C: closure rows; A: drives. The platform's six rows are passive.
template <int C, int A> struct Dense {
    static constexpr int rows = C == 2 ? 2 : 3;
    const Tree &tree;
    pin::Data data;
    std::vector<int> active, passive; // places in the tree
    Matrix<double, C, Eigen::Dynamic> J;

    Dense(const Robot &robot, const Tree &tree) : tree(tree), data(tree.model), J(C, tree.model.nv) {
        for (int c : robot.active) active.push_back(tree.place[c]);
        for (int k = 0; k < tree.model.nv; ++k)
            if (std::find(active.begin(), active.end(), k) == active.end()) passive.push_back(k);
        J.setZero();
    }

    // Tree: tau = S efforts + J^T lambda.
    Matrix<double, A, 1> efforts(const VectorXd &q, const VectorXd &v, const VectorXd &a) {
        const auto &tau = pin::rnea(tree.model, data, q, v, a);
        pin::computeJointJacobians(tree.model, data, q);
        for (std::size_t c = 0; c < tree.closures.size(); ++c) {
            const auto &[one, other] = tree.closures[c];
            const Vector3d p = data.oMi[one.joint].act(one.X.translation());
            fill(c, one.joint, p, 1.0);
            fill(c, other.joint, p, -1.0);
        }
        Matrix<double, C, C> P;
        Matrix<double, C, 1> t;
        for (int k = 0; k < C; ++k) {
            P.row(k) = J.col(passive[k]).transpose();
            t[k] = tau[passive[k]];
        }
        const Matrix<double, C, 1> lambda = P.partialPivLu().solve(t);
        Matrix<double, A, 1> out;
        for (int k = 0; k < A; ++k) out[k] = tau[active[k]] - J.col(active[k]).dot(lambda);
        return out;
    }

    void fill(std::size_t closure, pin::JointIndex joint, const Vector3d &p, double sign) {
        for (auto j = joint; j > 0; j = tree.model.parents[j]) {
            const int first = tree.model.joints[j].idx_v(), count = tree.model.joints[j].nv();
            for (int k = first; k < first + count; ++k) {
                const Vector3d v = data.J.col(k).head<3>(), w = data.J.col(k).tail<3>();
                J.template block<rows, 1>(closure * rows, k) = sign * (v + w.cross(p)).template head<rows>();
            }
        }
    }
};

// ---- the rows ---------------------------------------------------------------------------------------------------------

static void row(json::array &out, const Robot &robot, const char *task, const char *how, double error, json::object times) {
    times["robot"] = robot.file.at("robot");
    times["task"] = task;
    times["by"] = how;
    times["error"] = error;
    out.push_back(times);
}

template <int D, int N, int C> static void compare(const Robot &robot, json::array &out) {
    double error = 0.0;
    LegWise<D, N> legwise(robot);
    for (std::size_t i = 0; i < robot.states; ++i)
        error = std::max(error, apart(legwise.efforts(legwise.states[i]), robot.of(i, "efforts")));
    row(out, robot, "idm", "Pinocchio, leg by leg", error,
        measured(robot.states, [&](std::size_t i) { keep(legwise.efforts(legwise.states[i])); }));

    const Tree tree(robot);
    std::vector<VectorXd> q, v, a, tau, wanted;
    for (std::size_t i = 0; i < robot.states; ++i) {
        q.push_back(tree.q(robot, i));
        v.push_back(tree.v(robot, i));
        a.push_back(tree.a(robot, i, "qdd", "acceleration"));
        wanted.push_back(tree.a(robot, i, "other_qdd", "other_acceleration"));
        const VectorXd given = robot.of(i, "other_efforts");
        VectorXd efforts = VectorXd::Zero(tree.model.nv);
        for (std::size_t k = 0; k < robot.active.size(); ++k) efforts[tree.place[robot.active[k]]] = given[k];
        tau.push_back(efforts);
    }
    Dense<C, N> dense(robot, tree);
    error = 0.0;
    for (std::size_t i = 0; i < robot.states; ++i)
        error = std::max(error, apart(dense.efforts(q[i], v[i], a[i]), robot.of(i, "efforts")));
    row(out, robot, "idm", "Pinocchio, dense projection", error,
        measured(robot.states, [&](std::size_t i) { keep(dense.efforts(q[i], v[i], a[i])); }));

    pin::Data data(tree.model);
    std::vector<pin::RigidConstraintModel> models;
    std::vector<pin::RigidConstraintData> datas;
    for (const auto &[one, other] : tree.closures)
        models.emplace_back(pin::CONTACT_3D, tree.model, one.joint, one.X, other.joint, other.X, pin::LOCAL);
    for (const auto &m : models) datas.emplace_back(m);
    pin::initConstraintDynamics(tree.model, data, models, datas);
    // The third row of a planar closure is empty: it needs a little regularisation.
    pin::ProximalSettings settings = robot.planar ? pin::ProximalSettings(1e-10, 1e-8, 20) : pin::ProximalSettings(1e-12, 0.0, 1);
    error = 0.0;
    const auto solve = [&](std::size_t i) -> const VectorXd & {
        return pin::constraintDynamics(tree.model, data, q[i], v[i], tau[i], models, datas, settings);
    };
    for (std::size_t i = 0; i < robot.states; ++i) error = std::max(error, apart(solve(i), wanted[i]));
    row(out, robot, "ddm", "Pinocchio, constraintDynamics", error, measured(robot.states, [&](std::size_t i) { keep(solve(i)); }));

    pin::Data other(tree.model);
    pin::computeJointMinimalOrdering(tree.model, other, models);
    pin::ProximalSettings proximal(1e-12, 1e-8, 20);
    const auto articulated = [&](std::size_t i) -> const VectorXd & {
        return pin::lcaba(tree.model, other, q[i], v[i], tau[i], models, datas, proximal);
    };
    error = 0.0;
    for (std::size_t i = 0; i < robot.states; ++i) error = std::max(error, apart(articulated(i), wanted[i]));
    row(out, robot, "ddm", "Pinocchio, lcaba", error, measured(robot.states, [&](std::size_t i) { keep(articulated(i)); }));
}

int main(int count, char **words) {
    try {
        json::array out;
        for (int k = 1; k < count; ++k) {
            const Robot robot(words[k]);
            if (robot.planar) {
                compare<2, 2, 2>(robot, out);
            } else {
                compare<3, 6, 18>(robot, out);
            }
        }
        std::cout << json::serialize(out) << std::endl;
    } catch (const std::exception &e) {
        std::cerr << e.what() << std::endl;
        return 1;
    }
}
